/**
 * Every error code this package throws. Codes are stable (callers and the HTTP layer switch on them); messages are not.
 * Other packages of sotto throw `SottoError` with codes of their own.
 */
export const PROTOCOL_ERROR_CODES = [
  /** Not the object, array or bytes that was expected. */
  "INVALID_ARGUMENT",
  /** An integer is missing, not an integer, or outside its stated range. */
  "INVALID_INTEGER",
  /** Not a canonical element of the BN254 scalar field. */
  "INVALID_FIELD_ELEMENT",
  /** Not a token amount: negative, fractional base units, or above 2^64 - 1. */
  "INVALID_AMOUNT",
  /** Not lower-case hex with 0x, or of the wrong length. */
  "INVALID_HEX",
  /** Not an Ethereum address, or a mixed-case one with a wrong EIP-55 checksum. */
  "INVALID_ADDRESS",
  /** A text is missing, empty or not well-formed Unicode. */
  "INVALID_STRING",
  /** Not the encoding of a point of the prime-order subgroup, or the identity. */
  "INVALID_POINT",
  /** A scalar outside the range its use demands. */
  "INVALID_SCALAR",
  /** A seed or key of the wrong size or range. The value is never part of the message. */
  "INVALID_KEY",
  /** A signature that is malformed or has a high s. */
  "INVALID_SIGNATURE",
  /** Not a shielded address (64 bytes: packed encryption key, owner tag). */
  "INVALID_SHIELDED_ADDRESS",
  /** Poseidon takes 1 to 16 inputs and gives out at most as many outputs as it has inputs. */
  "INVALID_HASH_INPUT",
  /** More leaves than the tree has room for. */
  "TREE_FULL",
  /** A leaf that is 0 or not a field element, or a batch of the wrong size. */
  "INVALID_LEAF",
  /** A leaf index at or beyond the tree's size. */
  "LEAF_NOT_FOUND",
  /** Stored tree state that is damaged or of an unknown version. */
  "INVALID_TREE_STATE",
  /** The tree holds another commitment at the spent note's index. */
  "NOTE_NOT_IN_TREE",
  /** Notes are worth less than what is to be paid out of them; details say how much is missing. */
  "INSUFFICIENT_NOTES",
  /** An amount outside the bounds that a range proof states. */
  "AMOUNT_OUT_OF_BOUNDS",
  /** A withdrawal spends 1 to 8 different notes. */
  "INVALID_WITHDRAWAL_INPUTS",
  /** A payment proof bundle with a missing, malformed or inconsistent field. */
  "INVALID_BUNDLE",
  /** The proofs of a bundle are about different ciphertexts, or not about the one it carries. */
  "CIPHERTEXT_MISMATCH",
  /** A shielded address binding with a missing or malformed field. */
  "BINDING_INVALID",
  /** A binding's signature that is no hex with 0x, or too long to be one. */
  "BINDING_SIGNATURE_INVALID",
  /** The chain could not be asked whether a contract wallet accepts a signature: nothing is known, try again. */
  "BINDING_UNCHECKED",
  /** A binding dated later than the next slot. */
  "BINDING_FROM_THE_FUTURE",
  /** A binding older than 400 days. */
  "BINDING_EXPIRED",
  /** A binding to be linked that is older than 24 hours. */
  "BINDING_STALE",
  /** Payment instructions (the body of a 402 answer) with a missing, malformed or inconsistent field. */
  "INSTRUCTIONS_INVALID",
  /** An X-Payment-Proof header that is not JSON, or not to be parsed: longer than 8192 characters, not ASCII. */
  "PROOF_HEADER_NOT_JSON",
  /** An X-Payment-Proof header that is JSON but lacks a field or has a malformed one. */
  "PROOF_HEADER_INVALID",
  /** A deployment manifest with a missing, malformed or inconsistent field. */
  "DEPLOYMENT_INVALID",
  /** Claims of a payment token with a missing or malformed field. */
  "TOKEN_CLAIMS_INVALID",
  /** An answer whose body has more bytes than are read. */
  "ANSWER_TOO_LARGE",
] as const;

/** One of this package's error codes. */
export type ProtocolErrorCode = (typeof PROTOCOL_ERROR_CODES)[number];

/** What an error may carry beside its message: plain values for programs to read, never secrets. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | null>>;

/** Base class of all errors of sotto: `code` is stable, `message` says what was wrong and what was expected. */
export class SottoError extends Error {
  override readonly name: string = "SottoError";
  readonly code: string;
  readonly details: ErrorDetails;

  constructor(code: string, message: string, details: ErrorDetails = {}, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.details = details;
  }
}

/** Throws one of this package's own errors; typed, so that a code not listed above does not compile. */
export function fail(code: ProtocolErrorCode, message: string, details: ErrorDetails = {}): never {
  throw new SottoError(code, message, details);
}

/** Runs `read`; what it refuses with another code is refused with this one, under the same message. */
export function recode<T>(code: ProtocolErrorCode, what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof SottoError) || cause.code === code) throw cause;
    throw new SottoError(code, `${what}: ${cause.message}`, cause.details, { cause });
  }
}

/** How a value is named in an error message: its type, and the value itself only where that cannot be a secret. */
export function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (typeof value === "string") return `a string of ${value.length} characters`;
  if (value === undefined) return "nothing";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
