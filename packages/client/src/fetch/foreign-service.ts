import { baseUrl, foreign, type MessagePart, message } from "@sotto/protocol";

/** Maximum number of allowed services that a message names. */
const MAX_NAMED = 5;
/** Maximum characters of a URL that the message names. */
const MAX_URL = 250;

/**
 * The message for a 402 that names a service outside the allowed ones. It points out the usual mistakes: `localhost`
 * for `127.0.0.1`, and a base path that is missing on one side.
 */
export function describeForeign(
  verifyEndpoint: string,
  settleEndpoint: string,
  services: readonly string[],
): readonly MessagePart[] {
  const verify = serviceOf(verifyEndpoint, "verify");
  const settle = serviceOf(settleEndpoint, "settle");
  const [one, other] = [foreign(verify, MAX_URL), foreign(settle, MAX_URL)];
  const named = verify === settle ? message`${one}` : message`${one} to verify and ${other} to settle`;
  const more = services.length > MAX_NAMED ? ` and ${services.length - MAX_NAMED} more` : "";
  const allowed = `${services.slice(0, MAX_NAMED).join(", ")}${more}`;
  const text = message`the 402 names the service ${{ parts: named }}, but the wallet allows only ${allowed}`;
  const hint = services.map((service) => difference(verify, service)).find((found) => found !== undefined);
  return hint === undefined ? text : [...text, ": ", ...hint];
}

function serviceOf(endpoint: string, name: string): string {
  const url = baseUrl(endpoint) ?? endpoint;
  return url.endsWith(`/${name}`) ? url.slice(0, -name.length - 1) : url;
}

const THIS_MACHINE = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Describes the difference between two URLs that are probably meant to be the same. */
function difference(found: string, allowed: string): readonly MessagePart[] | undefined {
  if (!URL.canParse(found)) return undefined;
  const [a, b] = [new URL(found), new URL(allowed)];
  if (a.protocol !== b.protocol || a.port !== b.port) return undefined;
  if (a.hostname !== b.hostname) {
    if (!THIS_MACHINE.has(a.hostname) || !THIS_MACHINE.has(b.hostname)) return undefined;
    return message`${a.hostname} and ${b.hostname} are different addresses; use the same one for the resource server and the wallet`;
  }
  if (a.pathname === b.pathname) return undefined;
  const [longer, shorter] = a.pathname.length > b.pathname.length ? [a, b] : [b, a];
  if (shorter.pathname !== "/") return undefined;
  // Both have the same origin.
  return message`the path ${longer === a ? foreign(a.pathname) : b.pathname} is missing in ${b.origin}`;
}
