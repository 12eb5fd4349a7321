import { isSecureUrl } from "@sotto/protocol";
import { FetchError } from "./errors.ts";

/**
 * Refuses plain http: a proof is worth money until it is used, and a 402 without TLS may come from anyone. Local chains
 * hold no money and are exempt.
 * @throws FetchError ORIGIN_NOT_SECURE
 */
export function assertSecure(url: URL, chainId: bigint): void {
  if (isSecureUrl(url.href, chainId)) return;
  throw new FetchError("ORIGIN_NOT_SECURE", `${url.origin} is not an https URL; payments to it are refused`, {
    origin: url.origin,
  });
}
