import { assertTimestamp } from "../contexts.ts";
import { type Ciphertext, packCiphertext, unpackCiphertext } from "../elgamal.ts";
import { describe, fail, ProtocolError, SottoError } from "../errors.ts";
import { type Address, parseAddress } from "../ethereum-address.ts";
import { CIRCUITS } from "../generated/circuits.ts";
import { MAX_URL_LENGTH } from "../object-fields.ts";
import { hiddenCipherX } from "../secrets.ts";
import { assertAmount, assertArray, assertObject, assertText, parseBaseField, parseField } from "../validate.ts";
import type { Mismatch } from "./mismatch.ts";
import { PAYMENT_SIGNAL, RANGE_SIGNAL } from "./signals.ts";

/** The payment proof bundle in its wire form (JSON), interface 2.1. */
export interface WireBundle {
  /** Groth16 proof of the payment circuit: eight decimal strings in the order of IVerifier.sol. */
  readonly proof: readonly string[];
  /** The payment circuit's public signals, decimal. */
  readonly publicSignals: readonly string[];
  /** pack(R) then pack(C), 64 bytes as hex with 0x. */
  readonly encryptedAmount: string;
  /** Groth16 proof of the circuit elgamal_range: eight decimal strings. */
  readonly amountProof: readonly string[];
  /** Its six public signals, decimal: R.x, C.x, PK.x, tag, lower bound, upper bound. */
  readonly amountPublicSignals: readonly string[];
  /** A field element, decimal. */
  readonly senderCommitment: string;
  /** The recipient's wallet address, 20 bytes as hex with 0x. */
  readonly recipientPublicKey: string;
  /** The URL that is paid for, 1 to 2,048 characters, compared byte for byte. */
  readonly resourceUrl: string;
  /** When the payment was made, milliseconds since the Unix epoch. Resource servers refuse it after 300,000 ms. */
  readonly timestamp: number;
}

const FIELDS: { readonly [name in keyof WireBundle | "artifactSet"]: true } = {
  ...{ proof: true, publicSignals: true, encryptedAmount: true, amountProof: true, amountPublicSignals: true },
  ...{ senderCommitment: true, recipientPublicKey: true, resourceUrl: true, timestamp: true, artifactSet: true },
};
/** Names of the fields of /verify that a payment has: nothing that is shown beside it may use them. */
export const PAYMENT_FIELDS: readonly string[] = Object.keys(FIELDS);

/** The parsed bundle. */
export interface PaymentBundle {
  /** Groth16 proof of the payment circuit: a.x a.y b.x0 b.x1 b.y0 b.y1 c.x c.y, each below the base field's order. */
  readonly proof: readonly bigint[];
  /** The payment circuit's public signals. */
  readonly publicSignals: readonly bigint[];
  /** ElGamal ciphertext of the amount: two points of the prime-order subgroup. */
  readonly encryptedAmount: Ciphertext;
  /** Groth16 proof of the elgamal_range circuit (the amount proof). */
  readonly amountProof: readonly bigint[];
  /** Its six public signals: R.x, C.x, PK.x, tag, lower bound, upper bound. */
  readonly amountPublicSignals: readonly bigint[];
  /** Opens signals 0 and 1 together with the recipient and the resource; a field element. */
  readonly senderCommitment: bigint;
  /** The recipient's wallet address. */
  readonly recipientPublicKey: Address;
  /** The URL that is paid for, 1 to 2,048 characters, never normalised. */
  readonly resourceUrl: string;
  /** Milliseconds since the Unix epoch. */
  readonly timestamp: number;
}

const PROOF_WORDS = 8;

type Fields = Readonly<Record<string, unknown>>;

function decimals(fields: Fields, name: string, length: number, parse: (value: unknown, name: string) => bigint) {
  return assertArray(fields[name], length, "INVALID_BUNDLE", name).map((word, i) => parse(word, `${name}[${i}]`));
}

/** Checks a URL from the wire: an opaque string, compared byte for byte, never normalised. */
function parseUrl(value: unknown): string {
  const url = assertText(value, "resourceUrl");
  if (url.length > MAX_URL_LENGTH)
    fail("INVALID_STRING", `resourceUrl must have at most ${MAX_URL_LENGTH} characters, got ${url.length}`);
  return url;
}

function read(fields: Fields): PaymentBundle {
  const bundle = {
    proof: decimals(fields, "proof", PROOF_WORDS, parseBaseField),
    publicSignals: decimals(fields, "publicSignals", CIRCUITS.payment.publicSignalCount, parseField),
    amountProof: decimals(fields, "amountProof", PROOF_WORDS, parseBaseField),
    amountPublicSignals: decimals(fields, "amountPublicSignals", CIRCUITS.elgamal_range.publicSignalCount, parseField),
    senderCommitment: parseField(fields["senderCommitment"], "senderCommitment"),
    recipientPublicKey: parseAddress(fields["recipientPublicKey"], "recipientPublicKey"),
    resourceUrl: parseUrl(fields["resourceUrl"]),
    timestamp: assertTimestamp(fields["timestamp"]),
  };
  // Decode the points last, because that is the expensive part.
  assertBounds(bundle.amountPublicSignals);
  return { ...bundle, encryptedAmount: unpackCiphertext(fields["encryptedAmount"] as string) };
}

function assertBounds(signals: readonly bigint[]): void {
  const { lowerBound, upperBound } = RANGE_SIGNAL;
  const lower = assertAmount(signals[lowerBound], `amountPublicSignals[${lowerBound}] (the lower bound)`);
  const upper = assertAmount(signals[upperBound], `amountPublicSignals[${upperBound}] (the upper bound)`);
  if (lower > upper)
    fail(
      "INVALID_BUNDLE",
      `amountPublicSignals[${lowerBound}] (the lower bound) is above amountPublicSignals[${upperBound}] (the upper bound)`,
    );
}

/**
 * Checks that both proofs are for the bundle's ciphertext. The payment's signals contain C.x plus the sender
 * commitment, the amount proof's signals contain C.x itself.
 */
export function checkCiphertext(bundle: PaymentBundle): Mismatch<"CIPHERTEXT"> | undefined {
  assertObject(bundle, "the bundle");
  const { encryptedAmount, publicSignals, amountPublicSignals } = bundle;
  for (const part of [encryptedAmount, publicSignals, amountPublicSignals]) assertObject(part, "a part of the bundle");
  const { R, C } = encryptedAmount;
  assertObject(R, "R");
  assertObject(C, "C");
  const differs = (signals: string): Mismatch<"CIPHERTEXT"> => ({
    kind: "CIPHERTEXT",
    message: `encryptedAmount is not the ciphertext of ${signals}`,
  });
  const hidden = hiddenCipherX(C.x, bundle.senderCommitment);
  if (publicSignals[PAYMENT_SIGNAL.ephemeralX] !== R.x || publicSignals[PAYMENT_SIGNAL.hiddenCipherX] !== hidden)
    return differs("publicSignals[2..3] and senderCommitment");
  if (amountPublicSignals[RANGE_SIGNAL.ephemeralX] !== R.x || amountPublicSignals[RANGE_SIGNAL.cipherX] !== C.x)
    return differs("amountPublicSignals[0..1]");
  return undefined;
}

/**
 * Asserts that both proofs are for the bundle's ciphertext.
 * @throws SottoError CIPHERTEXT_MISMATCH if they are not
 */
export function assertSameCiphertext(bundle: PaymentBundle): void {
  const mismatch = checkCiphertext(bundle);
  if (mismatch !== undefined) fail("CIPHERTEXT_MISMATCH", mismatch.message);
}

/**
 * Parses a bundle strictly: decimals must be canonical and below their modulus, arrays of the right size, points in the
 * prime-order subgroup. Ignores unknown fields, because the proof header has more. The caller verifies the proofs, and
 * checks the recipient, the resource and the ciphertext (`checkPayment`).
 * @param value the parsed JSON
 * @throws SottoError INVALID_BUNDLE; the message names the field
 */
export function decodeBundle(value: unknown): PaymentBundle {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    fail("INVALID_BUNDLE", `a bundle must be an object, got ${describe(value)}`);
  try {
    return read(value as Fields);
  } catch (cause) {
    if (!(cause instanceof SottoError) || cause.code === "INVALID_BUNDLE") throw cause;
    throw new ProtocolError("INVALID_BUNDLE", `not a payment bundle: ${cause.message}`, cause.details, { cause });
  }
}

/** The words as decimal strings. Returns a value that is not an array unchanged; `decodeBundle` rejects it. */
function decimalsOf(words: readonly bigint[]): readonly string[] {
  return Array.isArray(words) ? words.map(String) : (words as never);
}

/** The wire form of a bundle. @throws SottoError INVALID_BUNDLE, CIPHERTEXT_MISMATCH */
export function encodeBundle(bundle: PaymentBundle): WireBundle {
  if (typeof bundle !== "object" || bundle === null)
    fail("INVALID_BUNDLE", `a bundle must be an object, got ${describe(bundle)}`);
  const wire: WireBundle = {
    proof: decimalsOf(bundle.proof),
    publicSignals: decimalsOf(bundle.publicSignals),
    encryptedAmount: packCiphertext(Object(bundle.encryptedAmount)),
    amountProof: decimalsOf(bundle.amountProof),
    amountPublicSignals: decimalsOf(bundle.amountPublicSignals),
    senderCommitment: String(bundle.senderCommitment),
    recipientPublicKey: parseAddress(bundle.recipientPublicKey, "recipientPublicKey"),
    resourceUrl: bundle.resourceUrl,
    timestamp: bundle.timestamp,
  };
  assertSameCiphertext(decodeBundle(wire));
  return wire;
}
