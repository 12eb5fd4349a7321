import { decodeShieldedAddress, parseTokenClaims, resourceHash, SottoError, type WireBundle } from "@sotto/protocol";
import type { PoolInfo } from "../wallet/connect.ts";
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
 * Checks a token before the payment is settled with it: with a token for another payment, this one would be settled and no
 * server would accept its proof.
 * @throws PurchaseError TOKEN_MISMATCH
 */
export function checkToken(
  token: string,
  payment: { bundle: WireBundle; digest: string },
  shieldedAddress: string,
  pool: PoolInfo,
): void {
  const { bundle, digest } = payment;
  const { encryptionKey, ownerTag } = decodeShieldedAddress(shieldedAddress);
  const expected = {
    digest,
    chainId: String(pool.chainId),
    pool: pool.pool,
    recipient: bundle.recipientPublicKey,
    recipientKey: String(encryptionKey.x),
    recipientTag: String(ownerTag),
    resourceHash: resourceHash(bundle.resourceUrl),
    senderCommitment: bundle.senderCommitment,
    nullifier: bundle.publicSignals[6],
    timestamp: bundle.timestamp,
  };
  const wrong = (what: string) =>
    new PurchaseError("TOKEN_MISMATCH", `the service's token is not for this payment: ${what}`);
  let claims: Readonly<Record<string, unknown>>;
  try {
    claims = { ...parseTokenClaims(payloadOf(token)) };
  } catch (error) {
    if (!(error instanceof SottoError)) throw error;
    throw wrong("its claims cannot be read");
  }
  for (const [name, value] of Object.entries(expected)) if (claims[name] !== value) throw wrong(`${name} differs`);
}
