import { LOCAL_CHAIN_IDS } from "../local-chains.ts";
import { urlOf } from "./base-url.ts";

/** Names of this machine. Browsers also resolve every name that ends in .localhost to it. */
const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Whether payments may be sent to a URL: to https, or to this machine. Proofs, tokens and signed deposits are worth
 * money in transit, and anyone on the path can intercept unencrypted HTTP, even in a private network. Tokens on a local
 * chain are worth nothing, so its payments may go to any http(s) URL.
 * @param chainId Default: a chain that is not local
 */
export function isSecureUrl(address: unknown, chainId?: bigint): boolean {
  const { protocol, hostname } = urlOf(address) ?? {};
  if (protocol === "https:") return true;
  if (protocol !== "http:" || hostname === undefined) return false;
  return LOOPBACK.test(hostname) || (chainId !== undefined && LOCAL_CHAIN_IDS.includes(chainId));
}
