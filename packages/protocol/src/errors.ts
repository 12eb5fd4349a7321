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

/** How a command ends with an error. The command line has the number of each. */
export type ExitName =
  | "failed"
  | "usage"
  | "refused"
  | "funds"
  | "pending"
  | "network"
  | "invalid"
  | "busy"
  | "key"
  | "status"
  | "interrupted";

/** Everything that is fixed about one error code. */
export interface ErrorDefinition {
  /** What the code means, in one sentence. */
  readonly means: string;
  /** How a command ends with it; `failed` if absent. */
  readonly exit?: ExitName | undefined;
  /** The status of its HTTP response, or the public error sent in its place. Absent: 500 `INTERNAL`, message withheld. */
  readonly http?: number | PublicError | undefined;
  /** The next step for a user of the command line. */
  readonly remedy?: string | Remedy | undefined;
}

/** What an HTTP client is told instead of the error itself. */
export interface PublicError {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** A next step that depends on the chain or on the error's details. */
export interface Remedy {
  /** On a local chain. */
  readonly local?: string | undefined;
  /** On all other chains. */
  readonly elsewhere?: string | undefined;
  /** Details the error must have; undefined: must not have. */
  readonly details?: Readonly<Record<string, string | undefined>> | undefined;
}

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

  /** The definition of `code`; undefined for a code that no class defines. */
  get definition(): ErrorDefinition | undefined {
    return undefined;
  }

  /** The same error with another message; this one becomes its cause. */
  withMessage(message: string): SottoError {
    return new RewordedError(this, message);
  }
}

class RewordedError extends SottoError {
  readonly #definition: ErrorDefinition | undefined;

  constructor(error: SottoError, message: string) {
    super(error.code, message, error.details, { cause: error });
    this.#definition = error.definition;
  }

  override get definition(): ErrorDefinition | undefined {
    return this.#definition;
  }
}

/** An error of a class made by {@link defineErrors}. */
export interface DefinedError<Code extends string> extends SottoError {
  readonly code: Code;
  readonly definition: ErrorDefinition;
}

/** A class of errors with its table of codes. */
export interface ErrorClass<Code extends string> {
  readonly prototype: DefinedError<Code>;
  readonly definitions: Readonly<Record<Code, ErrorDefinition>>;
  new (code: Code, message: string, details?: ErrorDetails, options?: { cause?: unknown }): DefinedError<Code>;
}

/**
 * Makes a subclass of {@link SottoError} from a table of codes. The table is the only place that says what a code means,
 * which HTTP status it has and how a command ends with it. Two classes that share a code share its definition:
 * `INVALID_OPTION: ChainError.definitions.INVALID_OPTION`.
 */
export function defineErrors<const T extends Readonly<Record<string, ErrorDefinition>>>(
  name: string,
  definitions: T,
): ErrorClass<keyof T & string> {
  const Defined = class extends SottoError {
    static readonly definitions = definitions;
    override readonly name = name;

    override get definition(): ErrorDefinition | undefined {
      return Object.hasOwn(definitions, this.code) ? definitions[this.code] : undefined;
    }
  };
  Object.defineProperty(Defined, "name", { value: name });
  return Defined as unknown as ErrorClass<keyof T & string>;
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
