import { X402SchemeError } from "./errors.ts";

const LONGEST = 2048;

/**
 * A service's base address in its one form: no slash at the end.
 * @throws X402SchemeError X402_OPTION_INVALID for what is no http(s) URL, or has a user, a query or a fragment
 */
export function serviceAddress(address: unknown): string {
  const url =
    typeof address === "string" && address.length <= LONGEST && URL.canParse(address) ? new URL(address) : undefined;
  const plain = url !== undefined && /^https?:$/.test(url.protocol);
  if (!plain || [url.username, url.password, url.search, url.hash].some((part) => part !== ""))
    throw new X402SchemeError(
      "X402_OPTION_INVALID",
      "a service's address is an http(s) URL such as https://pay.example/zk",
    );
  return url.origin + url.pathname.replace(/\/+$/, "");
}
