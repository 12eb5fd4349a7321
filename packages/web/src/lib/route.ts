// Routes are in the URL's fragment, so that any static host serves them: #/wallet/pay?url=…
import type { BaseLocationHook, BaseSearchHook } from "wouter";
import { useHashLocation } from "wouter/use-hash-location";

const split = (location: string): [path: string, search: string] => {
  const at = location.indexOf("?");
  return at < 0 ? [location, ""] : [location.slice(0, at), location.slice(at + 1)];
};

/** wouter's own function would move the search from the fragment to the URL, which the host sees. */
function navigate(to: string, { replace = false }: { replace?: boolean } = {}): void {
  history[replace ? "replaceState" : "pushState"](null, "", `#${to}`);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/** wouter's location: the fragment up to its question mark. */
export const useRoutePath: BaseLocationHook = () => {
  const [location] = useHashLocation();
  return [split(location)[0], navigate];
};

/** Links are fragments. */
useRoutePath.hrefs = (path: string) => `#${path}`;

/** wouter's search: the fragment after its question mark. */
export const useRouteSearch: BaseSearchHook = () => split(useHashLocation()[0])[1];
