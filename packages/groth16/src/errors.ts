import type { GROTH16_ERRORS } from "./error-definitions.ts";

/** The codes of a {@link Groth16Error}. */
export type Groth16ErrorCode = keyof typeof GROTH16_ERRORS;

/** Machine-readable values that an error has in addition to its message. Never secrets. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | null>>;

/** The mark by which `instanceof SottoError` of @sotto/protocol recognizes an error of this package. */
const SOTTO_ERROR: unique symbol = /* @__PURE__ */ Symbol.for("sotto.error");

/** An error of keys, witnesses, proofs or their verification. */
export class Groth16Error extends Error {
  override readonly name = "Groth16Error";
  /** Stable. `GROTH16_ERRORS` explains every code. */
  readonly code: Groth16ErrorCode;
  /** Values for programs, such as the name of a signal; empty if there are none. */
  readonly details: ErrorDetails;

  constructor(code: Groth16ErrorCode, message: string, details: ErrorDetails = {}, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.details = details;
  }

  /** The parts of the message, which every error of sotto has. Here there is one, and it quotes no other party. */
  get parts(): readonly string[] {
    return [this.message];
  }

  /** Marks the error as one of sotto. */
  get [SOTTO_ERROR](): true {
    return true;
  }
}

/** Makes a {@link Groth16Error}. */
export function groth16Error(
  code: Groth16ErrorCode,
  message: string,
  details: ErrorDetails = {},
  cause?: unknown,
): Groth16Error {
  return new Groth16Error(code, message, details, cause === undefined ? undefined : { cause });
}

/**
 * A Groth16Error with the code CIRCUIT_FILE_UNREADABLE. Neither the reason nor the cause may have a URL, because one may contain a
 * secret.
 */
export function unreadableFile(kind: string, reason: string, cause?: unknown): Groth16Error {
  return groth16Error("CIRCUIT_FILE_UNREADABLE", `The ${kind} cannot be read: ${reason}.`, { kind }, cause);
}

/** The circuit in a message, after a space. Nothing if it has no name, as for snarkjs's functions. */
export const ofCircuit = (name: string, preposition: "of" | "for" = "of"): string =>
  name === "" ? "" : ` ${preposition} circuit ${name}`;

const aborted = ({ reason }: AbortSignal): Groth16Error =>
  groth16Error("ABORTED", "The caller aborted the operation.", {}, reason);

/** @throws Groth16Error ABORTED if the signal is aborted, with the signal's reason as its cause */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw aborted(signal);
}

/** Settles like `promise`, unless the signal is aborted first. @throws Groth16Error ABORTED */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const stop = () => reject(aborted(signal));
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
