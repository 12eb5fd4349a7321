import { LOCAL_CHAIN_IDS } from "../local-chains.ts";
import { urlOf } from "./base-url.ts";

/** Names of this machine. A name that ends in .localhost leads to it too, as every browser sees to. */
const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Whether payments may go to an address: by https, or within this machine. Proofs, tokens and signed deposits are worth
 * money on their way, and who answers in the clear may be anybody, in a private network too. On a local chain there is
 * no money, and any address will do.
 * @param chainId left out: of a chain that may not be a local one
 */
export function isSecureUrl(address: unknown, chainId?: bigint): boolean {
  const { protocol, hostname } = urlOf(address) ?? {};
  if (protocol === "https:") return true;
  if (protocol !== "http:" || hostname === undefined) return false;
  return LOOPBACK.test(hostname) || (chainId !== undefined && LOCAL_CHAIN_IDS.includes(chainId));
}
