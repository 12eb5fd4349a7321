import { paymentContext, resourceDigest, validUntilOf } from "../contexts.ts";
import { amountBounds } from "../decimal.ts";
import { SottoError } from "../errors.ts";
import { assertSameCiphertext, decodeBundle, type PaymentBundle } from "../payment/bundle.ts";
import { recipientSignal } from "../secrets.ts";
import { reading } from "./errors.ts";
import type { X402Terms } from "./terms.ts";

/** Why a payment is not what the requirements ask for. Stable. */
export const X402_MISMATCHES = [
  "AMOUNT_MISMATCH",
  "RECIPIENT_MISMATCH",
  "RESOURCE_MISMATCH",
  "CIPHERTEXT_MISMATCH",
  "TIMESTAMP_TOO_OLD",
  "TIMESTAMP_IN_FUTURE",
] as const;
export type X402Mismatch = (typeof X402_MISMATCHES)[number];

export interface X402Refusal {
  readonly reason: X402Mismatch;
  readonly message: string;
}

/** Ms: how old a payment may be at most, however much time the requirements give. */
export const X402_FRESH_MS = 300_000;
/** Ms a payer's clock may be ahead. */
export const X402_SKEW_MS = 30_000;

/** @throws SottoError X402_PAYLOAD_INVALID */
export function parseX402Payload(payload: unknown): PaymentBundle {
  return reading("X402_PAYLOAD_INVALID", () => decodeBundle(payload));
}

const WHERE = { recipient: 0, resource: 1 } as const;
const RANGE = { keyX: 2, tag: 3, lower: 4, upper: 5 } as const;

/**
 * Whether a payment pays exactly what the requirements ask: this price, to this wallet and shielded address, for this
 * resource, on this chain and pool. All that can be told without its proofs and the chain; when is another matter.
 */
export function checkX402Payment(bundle: PaymentBundle, terms: X402Terms): X402Refusal | undefined {
  return amountOf(bundle, terms) ?? recipientOf(bundle, terms) ?? resourceOf(bundle, terms);
}

function amountOf({ amountPublicSignals }: PaymentBundle, { amount }: X402Terms): X402Refusal | undefined {
  const { lowerBound, upperBound } = amountBounds(amount);
  if (amountPublicSignals[RANGE.lower] === lowerBound && amountPublicSignals[RANGE.upper] === upperBound)
    return undefined;
  const message = `the amount proof must show ${lowerBound} to ${upperBound} base units`;
  return { reason: "AMOUNT_MISMATCH", message };
}

function recipientOf(bundle: PaymentBundle, { wallet, address }: X402Terms): X402Refusal | undefined {
  const { amountPublicSignals, publicSignals, recipientPublicKey, senderCommitment } = bundle;
  const { encryptionKey, ownerTag } = address;
  const refused = (message: string): X402Refusal => ({ reason: "RECIPIENT_MISMATCH", message });
  if (recipientPublicKey !== wallet) return refused("recipientPublicKey is not payTo");
  if (amountPublicSignals[RANGE.keyX] !== encryptionKey.x || amountPublicSignals[RANGE.tag] !== ownerTag)
    return refused("the amount proof is not for extra.recipient.shieldedAddress");
  const opened = recipientSignal({ wallet, keyX: encryptionKey.x, ownerTag }, senderCommitment);
  return opened === publicSignals[WHERE.recipient] ? undefined : refused("publicSignals[0] is not for the recipient");
}

function resourceOf(bundle: PaymentBundle, { chainId, pool, resource }: X402Terms): X402Refusal | undefined {
  const { publicSignals, resourceUrl, timestamp, senderCommitment } = bundle;
  const refused = (message: string): X402Refusal => ({ reason: "RESOURCE_MISMATCH", message });
  if (resourceUrl !== resource) return refused("resourceUrl is not extra.resource");
  const digest = resourceDigest({ resourceUrl, timestamp, senderCommitment });
  const context = { chainId, pool, validUntil: validUntilOf(timestamp), resourceDigest: digest };
  if (paymentContext(context) !== publicSignals[WHERE.resource])
    return refused("publicSignals[1] is not for this resource, chain and pool");
  try {
    assertSameCiphertext(bundle);
    return undefined;
  } catch (error) {
    if (!(error instanceof SottoError)) throw error;
    return { reason: "CIPHERTEXT_MISMATCH", message: error.message };
  }
}

/**
 * Whether a payment is as new as the requirements ask, and never older than five minutes.
 * @param now ms
 */
export function checkX402Time({ timestamp }: PaymentBundle, terms: X402Terms, now: number): X402Refusal | undefined {
  const most = Math.min(X402_FRESH_MS, terms.maxTimeoutSeconds * 1000);
  const age = now - timestamp;
  if (age > most)
    return { reason: "TIMESTAMP_TOO_OLD", message: `timestamp is ${age} ms old, at most ${most} are allowed` };
  if (age < -X402_SKEW_MS)
    return { reason: "TIMESTAMP_IN_FUTURE", message: `timestamp is ${-age} ms ahead, at most ${X402_SKEW_MS}` };
  return undefined;
}

/** Whether two readings of requirements ask for the same payment, whatever their challenges. */
export function sameX402Terms(a: X402Terms, b: X402Terms): boolean {
  return termsText(a) === termsText(b);
}

/** All that a payment depends on, as one text. */
export function termsText(terms: X402Terms): string {
  const { chainId, pool, asset, amount, wallet, recipient, resource, service } = terms;
  const { shieldedAddress } = recipient;
  return JSON.stringify([String(chainId), pool, asset, String(amount), wallet, shieldedAddress, resource, service]);
}
