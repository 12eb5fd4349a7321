import {
  differingClaim,
  type PaymentTokenClaims,
  parsePayment,
  parseTokenClaims,
  SottoError,
  tokenClaims,
  type WireBundle,
} from "@sotto/protocol";
import type { PoolInfo } from "@sotto/wallet";
import { PurchaseError } from "./errors.ts";

/** The payload of a token, or undefined. The resource server checks its signature. */
function payloadOf(token: string): unknown {
  try {
    const [, payload = ""] = token.split(".");
    const binary = atob(payload.replaceAll("-", "+").replaceAll("_", "/"));
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(binary, (character) => character.charCodeAt(0))));
  } catch {
    return undefined;
  }
}

/**
 * Checks a token before the payment is settled with it: with a token for another payment, this payment would be
 * settled, but no server would accept its proof.
 * @throws PurchaseError TOKEN_MISMATCH
 */
export function assertToken(token: string, bundle: WireBundle, pool: PoolInfo): void {
  const wrong = (what: string) =>
    new PurchaseError("TOKEN_MISMATCH", `the service's token is not for this payment: ${what}`);
  let claims: PaymentTokenClaims;
  try {
    claims = parseTokenClaims(payloadOf(token));
  } catch (error) {
    if (!(error instanceof SottoError)) throw error;
    throw wrong("its claims cannot be read");
  }
  const name = differingClaim(claims, tokenClaims(parsePayment(bundle), pool));
  if (name !== undefined) throw wrong(`${name} differs`);
}
