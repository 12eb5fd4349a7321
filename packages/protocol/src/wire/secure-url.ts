import { LOCAL_CHAIN_IDS } from "../local-chains.ts";
import { urlOf } from "./base-url.ts";

/** Names of this machine, to which browsers also resolve every name that ends in .localhost. */
const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Whether payments may be sent to a URL: to https, or to this machine. Proofs, tokens and signed deposits are worth money
 * in transit, and anyone may answer unencrypted HTTP, in a private network too. Tokens on a local chain are worth nothing,
 * so its payments may go to any http(s) URL.
 *
 * @param chainId Default: a chain that is not local
 */
export function isSecureUrl(address: unknown, chainId?: bigint): boolean {
  const { protocol, hostname } = urlOf(address) ?? {};
  if (protocol === "https:") return true;
  if (protocol !== "http:" || hostname === undefined) return false;
  return LOOPBACK.test(hostname) || (chainId !== undefined && LOCAL_CHAIN_IDS.includes(chainId));
}
