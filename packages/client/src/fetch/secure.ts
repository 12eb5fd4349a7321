import { isSecureUrl } from "@sotto/protocol";
import { FetchError } from "./errors.ts";

/**
 * A proof is money until it is used, and a 402 read in the clear may be anybody's. On a local chain there is no money.
 * @throws FetchError ORIGIN_NOT_SECURE
 */
export function expectSecure(url: URL, chainId: bigint): void {
  if (isSecureUrl(url.href, chainId)) return;
  throw new FetchError("ORIGIN_NOT_SECURE", `${url.origin} is no https address: nothing is paid there`, {
    origin: url.origin,
  });
}
