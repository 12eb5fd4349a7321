import { type ErrorDetails, SottoError } from "../errors.ts";

/** Codes of what is said in x402's own terms and cannot be read. Stable. */
export const X402_ERROR_CODES = [
  /** Another version of x402 than 2. */
  "X402_VERSION_UNSUPPORTED",
  /** Requirements of another scheme than sotto's. */
  "X402_SCHEME_UNSUPPORTED",
  /** No EIP-155 network, or not the one that is served. */
  "X402_NETWORK_UNSUPPORTED",
  /** Payment requirements with a missing or malformed field. */
  "X402_REQUIREMENTS_INVALID",
  /** A payment payload with a missing or malformed field. */
  "X402_PAYLOAD_INVALID",
] as const;

export type X402ErrorCode = (typeof X402_ERROR_CODES)[number];

/** Throws one of the codes above; what others threw about a field becomes the cause. */
export function refuse(code: X402ErrorCode, message: string, details: ErrorDetails = {}, cause?: unknown): never {
  throw new SottoError(code, message, details, { cause });
}

/** Runs a reader of one field; whatever is wrong with it is wrong with what it stands in. */
export function reading<T>(code: X402ErrorCode, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SottoError) || error.code.startsWith("X402_")) throw error;
    return refuse(code, error.message, error.details, error);
  }
}
