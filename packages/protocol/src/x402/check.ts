import { amountBounds } from "../payment/bounds.ts";
import { checkFreshness } from "../payment/freshness.ts";
import type { MismatchKind } from "../payment/mismatch.ts";
import { checkPayment, type PaymentStatement, parsePayment, type ReceivedPayment } from "../payment/statement.ts";
import { reading } from "./errors.ts";
import type { X402Terms } from "./terms.ts";

/** The reason why a payment does not meet the requirements. Stable. */
export type X402Mismatch =
  | "AMOUNT_MISMATCH"
  | "RECIPIENT_MISMATCH"
  | "RESOURCE_MISMATCH"
  | "CIPHERTEXT_MISMATCH"
  | "TIMESTAMP_TOO_OLD"
  | "TIMESTAMP_IN_FUTURE";

/** The reason why a payload does not meet the requirements. */
export interface X402Refusal {
  /** Stable. */
  readonly reason: X402Mismatch;
  /** A sentence for people, which may change between versions. */
  readonly message: string;
}

/** Reads the payload of a payment. It verifies no proof. @throws SottoError X402_PAYLOAD_INVALID */
export function parseX402Payload(payload: unknown): ReceivedPayment {
  return reading("X402_PAYLOAD_INVALID", () => parsePayment(payload));
}

/** The x402 refusal for each mismatch. The default message is that of the check. */
const REFUSALS: Readonly<Record<MismatchKind, readonly [reason: X402Mismatch, message?: string]>> = {
  AMOUNT_BOUNDS: ["AMOUNT_MISMATCH"],
  RECIPIENT_WALLET: ["RECIPIENT_MISMATCH", "recipientPublicKey is not payTo"],
  RECIPIENT_ADDRESS: ["RECIPIENT_MISMATCH", "the amount proof is not for extra.recipient.shieldedAddress"],
  RECIPIENT_SIGNAL: ["RECIPIENT_MISMATCH", "publicSignals[0] is not for the recipient"],
  RESOURCE_URL: ["RESOURCE_MISMATCH", "resourceUrl is not extra.resource"],
  RESOURCE_SIGNAL: ["RESOURCE_MISMATCH", "publicSignals[1] is not for this resource, chain and pool"],
  CIPHERTEXT: ["CIPHERTEXT_MISMATCH"],
  TOO_OLD: ["TIMESTAMP_TOO_OLD"],
  FROM_THE_FUTURE: ["TIMESTAMP_IN_FUTURE"],
};

/**
 * Checks that a payment is exactly what the requirements ask for: this price, to this wallet and shielded address, for
 * this resource, on this chain and pool. The caller verifies the proofs, and checks the timestamp and the chain.
 */
export function checkX402Payment(statement: PaymentStatement, terms: X402Terms): X402Refusal | undefined {
  const { chainId, pool, wallet, address, resource, amount } = terms;
  const mismatch = checkPayment(statement, {
    deployment: { chainId, pool },
    recipient: { wallet, keyX: address.encryptionKey.x, ownerTag: address.ownerTag },
    resourceUrl: resource,
    bounds: amountBounds(amount),
  });
  if (mismatch === undefined) return undefined;
  const [reason, message = mismatch.message] = REFUSALS[mismatch.kind];
  return { reason, message };
}

/** Checks that a payment is as recent as the requirements demand, and at most five minutes old. @param now ms */
export function checkX402Time({ bundle }: PaymentStatement, terms: X402Terms, now: number): X402Refusal | undefined {
  const mismatch = checkFreshness(bundle.timestamp, now, terms.maxTimeoutSeconds * 1000);
  if (mismatch === undefined) return undefined;
  const { kind, message, distanceMs, limitMs } = mismatch;
  const ahead = `timestamp is ${distanceMs} ms ahead, at most ${limitMs}`;
  return { reason: REFUSALS[kind][0], message: kind === "TOO_OLD" ? message : ahead };
}

/** Whether two requirements ask for the same payment; their challenges may differ. */
export function sameX402Terms(a: X402Terms, b: X402Terms): boolean {
  return termsText(a) === termsText(b);
}

/** The terms that a payment depends on, as one string. */
export function termsText(terms: X402Terms): string {
  const { chainId, pool, asset, amount, wallet, recipient, resource, service } = terms;
  const { shieldedAddress } = recipient;
  return JSON.stringify([String(chainId), pool, asset, String(amount), wallet, shieldedAddress, resource, service]);
}
