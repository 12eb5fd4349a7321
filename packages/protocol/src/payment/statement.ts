// A payment's statement: its parsed bundle and the values derived from it. Nothing here verifies a proof.
import { type Bytes32, resourceDigest, signalsDigest, validUntilOf } from "../contexts.ts";
import type { Deployment } from "../deployment.ts";
import type { PaymentSignals } from "../generated/circuits.ts";
import type { Recipient } from "../secrets.ts";
import { assertObject } from "../validate.ts";
import { type AmountBounds, checkBounds } from "./bounds.ts";
import { checkCiphertext, decodeBundle, type PaymentBundle, type WireBundle } from "./bundle.ts";
import type { Mismatch } from "./mismatch.ts";
import { checkRecipientSignal, checkResourceSignal, type PaymentOpening } from "./opening.ts";
import { paymentSignals, type RangeSignals, rangeSignals, signalWords } from "./signals.ts";

/** A payment's statement: its bundle, with the public signals by name and the digests that identify the payment. */
export interface PaymentStatement {
  /** The parsed bundle. Neither of its proofs is verified. */
  readonly bundle: PaymentBundle;
  /** Public signals of the payment proof. */
  readonly signals: PaymentSignals;
  /** Public signals of the amount proof. */
  readonly range: RangeSignals;
  /** keccak256 of the signals: identifies the payment. */
  readonly digest: Bytes32;
  /** keccak256(keccak256(resourceUrl), timestamp, senderCommitment). */
  readonly resourceDigest: Bytes32;
  /** Last second in which the pool settles it, Unix time. */
  readonly validUntil: bigint;
}

/** The terms that a payment must meet. */
export interface PaymentTerms {
  /** Chain and pool in which the payment must settle. */
  readonly deployment: Deployment;
  /** Wallet and shielded address that must be paid. */
  readonly recipient: Recipient;
  /** The URL that must be paid for, compared byte for byte. */
  readonly resourceUrl: string;
  /** The bounds that the amount proof must state. */
  readonly bounds: AmountBounds;
}

export function assertStatement(statement: PaymentStatement): void {
  const { bundle, signals, range } = Object(statement) as PaymentStatement;
  for (const part of [bundle, signals, range]) assertObject(part, "a part of the statement");
}

/**
 * Reads the statement of a bundle. It verifies no proof.
 * @throws ProtocolError SIGNALS_MALFORMED, or the codes of a malformed field
 */
export function parseStatement(bundle: PaymentBundle): PaymentStatement {
  assertObject(bundle, "the bundle");
  return {
    bundle,
    signals: paymentSignals(bundle.publicSignals),
    range: rangeSignals(bundle.amountPublicSignals),
    digest: signalsDigest(bundle.publicSignals),
    resourceDigest: resourceDigest(bundle),
    validUntil: validUntilOf(bundle.timestamp),
  };
}

/** A payment parsed from the wire. */
export interface ReceivedPayment extends PaymentStatement {
  /** Its nine fields in the order of docs/interface.md. Every value has exactly one encoding. */
  readonly wire: WireBundle;
}

/**
 * Parses a payment.
 * @param value the parsed JSON of a bundle
 * @throws SottoError INVALID_BUNDLE
 */
export function parsePayment(value: unknown): ReceivedPayment {
  const bundle = decodeBundle(value);
  const wire = value as WireBundle;
  return {
    ...parseStatement(bundle),
    wire: {
      proof: wire.proof,
      publicSignals: wire.publicSignals,
      encryptedAmount: wire.encryptedAmount,
      amountProof: wire.amountProof,
      amountPublicSignals: wire.amountPublicSignals,
      senderCommitment: wire.senderCommitment,
      // Only addresses have several valid spellings.
      recipientPublicKey: bundle.recipientPublicKey,
      resourceUrl: wire.resourceUrl,
      timestamp: wire.timestamp,
    },
  };
}

/** The canonical JSON of a payment. The service stores it, and compares it to recognize a repeated payment. */
export function canonicalPayment(payment: ReceivedPayment): string {
  assertObject(payment, "the payment");
  return JSON.stringify(payment.wire);
}

/** A bundle without the fields that a resource server already knows or reads from the payment's token. */
export type PartialBundle = Omit<PaymentBundle, "senderCommitment" | "amountPublicSignals" | "resourceUrl">;

/** Completes a bundle with the values that a payment for these terms must have. */
export function completeBundle(shown: PartialBundle, senderCommitment: bigint, terms: PaymentTerms): PaymentBundle {
  for (const part of [shown, terms]) assertObject(part, "what is shown, and the terms");
  const { proof, publicSignals, encryptedAmount, amountProof, recipientPublicKey, timestamp } = shown;
  const { recipient, resourceUrl, bounds } = terms;
  for (const part of [recipient, bounds, encryptedAmount, encryptedAmount?.R, encryptedAmount?.C])
    assertObject(part, "a part of what is shown, or of the terms");
  const amountPublicSignals = signalWords("elgamal_range", {
    ephemeralX: encryptedAmount.R.x,
    cipherX: encryptedAmount.C.x,
    recipientKey: recipient.keyX,
    recipientTag: recipient.ownerTag,
    lowerBound: bounds.lowerBound,
    upperBound: bounds.upperBound,
  });
  const listed = { proof, publicSignals, encryptedAmount, amountProof, recipientPublicKey, timestamp };
  return { ...listed, amountPublicSignals, senderCommitment, resourceUrl };
}

/** The recipient that the payment names. */
function recipientOf(statement: PaymentStatement): Recipient {
  assertStatement(statement);
  const { bundle, range } = statement;
  return { wallet: bundle.recipientPublicKey, keyX: range.recipientKey, ownerTag: range.recipientTag };
}

/** The opening of the payment's signals that its fields claim, for this deployment. */
export function openingOf(statement: PaymentStatement, deployment: Deployment): PaymentOpening {
  const recipient = recipientOf(statement);
  const { resourceUrl, timestamp, senderCommitment } = statement.bundle;
  return { deployment, recipient, resourceUrl, timestamp, senderCommitment };
}

/** Checks that the payment names this wallet and this shielded address. */
export function checkRecipient(
  statement: PaymentStatement,
  recipient: Recipient,
): Mismatch<"RECIPIENT_WALLET" | "RECIPIENT_ADDRESS"> | undefined {
  assertStatement(statement);
  assertObject(recipient, "the recipient");
  const { bundle, range } = statement;
  const { wallet, keyX, ownerTag } = recipient;
  if (bundle.recipientPublicKey !== wallet)
    return { kind: "RECIPIENT_WALLET", message: "recipientPublicKey is not the recipient's wallet" };
  if (range.recipientKey === keyX && range.recipientTag === ownerTag) return undefined;
  return { kind: "RECIPIENT_ADDRESS", message: "the amount proof is not for the recipient's shielded address" };
}

/**
 * Checks that a payment is exactly what the terms ask for: this amount, to this recipient, for this resource, on this chain
 * and pool, with both proofs for the same ciphertext. The caller verifies the proofs, and checks the timestamp and the
 * chain.
 */
export function checkPayment(statement: PaymentStatement, terms: PaymentTerms): Mismatch | undefined {
  assertStatement(statement);
  assertObject(terms, "the terms");
  const { bundle, signals, range } = statement;
  const { recipient, resourceUrl, deployment, bounds } = terms;
  const { timestamp, senderCommitment } = bundle;
  const opening = { deployment, recipient, resourceUrl, timestamp, senderCommitment };
  return (
    checkBounds(range, bounds) ??
    checkRecipient(statement, recipient) ??
    checkRecipientSignal(signals, opening) ??
    checkUrl(bundle, resourceUrl) ??
    checkResourceSignal(signals, opening) ??
    checkCiphertext(bundle)
  );
}

function checkUrl({ resourceUrl }: PaymentBundle, asked: string): Mismatch<"RESOURCE_URL"> | undefined {
  if (resourceUrl === asked) return undefined;
  return { kind: "RESOURCE_URL", message: "resourceUrl is not the resource that is asked for" };
}
