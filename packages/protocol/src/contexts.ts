import { type Deployment, deploymentWords } from "./deployment.ts";
import { describe, fail } from "./errors.ts";
import { addressToBigInt } from "./ethereum-address.ts";
import { WITHDRAWAL_INPUTS } from "./generated/circuits.ts";
import { bigIntToBytes, bytesToBigInt, bytesToHex, hexToBytes } from "./hex.ts";
import { keccakText, keccakToField, keccakWords } from "./keccak.ts";
import { assertLeafIndex } from "./note.ts";
import { assertAmount, assertArray, assertField, assertInteger, assertObject, assertUint } from "./validate.ts";

/**
 * Seconds within which a payment must be settled. Confirmations take at most another 60 s, and a proof header is
 * accepted for 300 s.
 */
const SETTLE_WINDOW_SECONDS = 180;

/** The latest time that a Date can represent, ms. */
const MAX_TIMESTAMP_MS = 8_640_000_000_000_000;

/** Checks a time in milliseconds since the Unix epoch, as in a bundle. @throws SottoError INVALID_INTEGER */
export function assertTimestamp(timestamp: unknown, name = "timestamp"): number {
  return assertInteger(timestamp, 0, MAX_TIMESTAMP_MS, name);
}

/**
 * Unix time in seconds until which a payment made at `timestamp` (ms) may be settled: 180 s later, rounded down to a full
 * minute.
 */
export function validUntilOf(timestamp: number): bigint {
  const end = BigInt(assertTimestamp(timestamp)) + BigInt(SETTLE_WINDOW_SECONDS) * 1000n;
  return (end / 60_000n) * 60n;
}

/** The resource that is paid for, with the other inputs of its digest. */
export interface Resource {
  /** The URL that is paid for, not empty; hashed byte for byte. */
  readonly resourceUrl: string;
  /** Milliseconds since the Unix epoch. */
  readonly timestamp: number;
  /** Sender commitment of the payment, a field element; it salts the digest. */
  readonly senderCommitment: bigint;
}

/** 32 bytes as hex with 0x, Solidity's bytes32. */
export type Bytes32 = string;

function bytes32(value: bigint): Bytes32 {
  return bytesToHex(bigIntToBytes(value, 32));
}

/** The resource's hash in a payment token: keccak256 of the URL's UTF-8 bytes. @throws SottoError INVALID_STRING */
export function resourceHash(resourceUrl: string): Bytes32 {
  return bytes32(keccakText(resourceUrl, "resourceUrl"));
}

/** keccak256(keccak256(url), timestamp, senderCommitment), 32 bytes as hex. */
export function resourceDigest(resource: Resource): Bytes32 {
  assertObject(resource, "the resource");
  const { resourceUrl, timestamp, senderCommitment } = resource;
  const time = BigInt(assertTimestamp(timestamp));
  const sender = assertField(senderCommitment, "senderCommitment");
  return bytes32(keccakWords([keccakText(resourceUrl, "resourceUrl"), time, sender]));
}

/** Signal 1 of a payment: keccak256(chain id, pool, validUntil, resourceDigest) mod p. */
export function paymentContext(context: Deployment & { validUntil: bigint; resourceDigest: Bytes32 }): bigint {
  assertObject(context, "the context");
  const validUntil = assertUint(context.validUntil, 64, "validUntil");
  const digest = bytesToBigInt(hexToBytes(context.resourceDigest, 32, "resourceDigest"));
  return keccakToField([...deploymentWords(context), validUntil, digest]);
}

/**
 * Blinding of a deposited note: keccak256(chain id, pool, leaf index) mod p. The blinding is public, and differs for
 * each note.
 */
export function depositBlinding(deployment: Deployment, leafIndex: number): bigint {
  return keccakToField([...deploymentWords(deployment), BigInt(assertLeafIndex(leafIndex))]);
}

/** The terms of a withdrawal, besides its notes. The proof binds all of them, so the submitter cannot change them. */
export interface WithdrawalTerms {
  /** Receives amount - fee; 20 bytes, hex with 0x. */
  readonly recipient: string;
  /** Base units, at most the amount that is withdrawn. */
  readonly fee: bigint;
  /** Receives the fee; 20 bytes, hex with 0x. */
  readonly feeRecipient: string;
  /** Unix time in seconds until which the withdrawal may be executed. */
  readonly validUntil: bigint;
}

/** Signal 0 of a withdrawal: keccak256(chain id, pool, recipient, fee, fee recipient, validUntil) mod p. */
export function withdrawalContext(context: Deployment & WithdrawalTerms): bigint {
  assertObject(context, "the context");
  const recipient = addressToBigInt(context.recipient, "recipient");
  const fee = assertAmount(context.fee, "fee");
  const feeRecipient = addressToBigInt(context.feeRecipient, "feeRecipient");
  const validUntil = assertUint(context.validUntil, 64, "validUntil");
  return keccakToField([...deploymentWords(context), recipient, fee, feeRecipient, validUntil]);
}

/**
 * The value that makes the pad of a withdrawal's output unique: keccak256(context, amount, all eight nullifiers) mod p.
 * These inputs determine the output's amount, so two withdrawals with the same pad have the same output, even if two
 * devices with the same seed prepared them.
 * @param context signal 0 of the withdrawal
 * @param amount base units that leave the pool
 * @param nullifiers as in the public signals, 0 for an unused input
 */
export function withdrawalPadContext(context: bigint, amount: bigint, nullifiers: readonly bigint[]): bigint {
  assertArray(nullifiers, WITHDRAWAL_INPUTS, "INVALID_WITHDRAWAL_INPUTS", "nullifiers");
  const words = nullifiers.map((nullifier, i) => assertField(nullifier, `nullifiers[${i}]`));
  return keccakToField([assertField(context, "context"), assertAmount(amount), ...words]);
}

/**
 * Identifies a settled payment or withdrawal: keccak256 of all its signals. (Not of the proof's bytes, which anyone can
 * re-randomise.)
 */
export function signalsDigest(signals: readonly bigint[]): Bytes32 {
  if (!Array.isArray(signals) || signals.length === 0)
    fail("INVALID_FIELD_ELEMENT", `signals must be an array of at least one, got ${describe(signals)}`);
  return bytes32(keccakWords(signals.map((signal, i) => assertField(signal, `signal ${i}`))));
}

/** The notes of an EIP-3009 deposit. The authorization's nonce commits to all of them. */
export interface DepositNotes {
  /** Owner tag of each note, at least one. */
  readonly ownerTags: readonly bigint[];
  /** Base units, one for each tag. */
  readonly amounts: readonly bigint[];
}

/** EIP-712 types of the EIP-3009 message that authorizes a deposit, in the form of ethers and viem. */
export const DEPOSIT_AUTHORIZATION_TYPES: { ReceiveWithAuthorization: { name: string; type: string }[] } = {
  ReceiveWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
};

/**
 * Maximum length of the signature of a deposit. The relayer pays for each of its bytes, and a passkey's signature takes about
 * 700, those of 30 owners 1,950. Signatures with a wallet's creation code (EIP-6492) are longer, but no token accepts them.
 */
export const MAX_DEPOSIT_SIGNATURE_BYTES = 2048;

/**
 * The nonce of a deposit's EIP-3009 authorization: keccak256(abi.encode(uint256[] tags, uint64[] amounts, bytes32 salt)).
 * EIP-3009 does not cover the notes' owners, so the nonce commits to them.
 * @param salt 32 random bytes as hex
 */
export function depositAuthorizationNonce(notes: DepositNotes, salt: Bytes32): Bytes32 {
  assertObject(notes, "the notes");
  const { ownerTags, amounts } = notes;
  if (!Array.isArray(ownerTags) || ownerTags.length === 0)
    fail("INVALID_FIELD_ELEMENT", "ownerTags must be an array of at least one tag");
  assertArray(amounts, ownerTags.length, "INVALID_AMOUNT", "amounts");
  const tags = ownerTags.map((tag, i) => assertField(tag, `ownerTags[${i}]`));
  const values = amounts.map((amount, i) => assertAmount(amount, `amounts[${i}]`));
  const count = BigInt(tags.length);
  // Head: two offsets and the salt, 96 bytes; tail: each array after its length.
  const offsets = [96n, 96n + 32n * (count + 1n)];
  const head = [...offsets, bytesToBigInt(hexToBytes(salt, 32, "salt"))];
  return bytes32(keccakWords([...head, count, ...tags, count, ...values]));
}
