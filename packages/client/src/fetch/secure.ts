import { LOCAL_CHAIN_IDS } from "@sotto/prover";
import { FetchError } from "./errors.ts";

/** Names of this machine. A name that ends in .localhost leads to it too, as every browser sees to. */
const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * A proof is money until it is used, and a 402 read in the clear may be anybody's. On a local chain there is no money.
 * @throws FetchError ORIGIN_NOT_SECURE
 */
export function expectSecure(url: URL, chainId: bigint): void {
  if (url.protocol === "https:" || LOOPBACK.test(url.hostname) || LOCAL_CHAIN_IDS.includes(chainId)) return;
  throw new FetchError("ORIGIN_NOT_SECURE", `${url.origin} is no https address: nothing is paid there`, {
    origin: url.origin,
  });
}
