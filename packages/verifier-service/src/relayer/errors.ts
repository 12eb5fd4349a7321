import { type ErrorDetails, SottoError } from "@sotto/protocol";

/** Codes of the relayer. Stable. */
export type RelayerErrorCode =
  /** An option is missing or out of its range. */
  | "INVALID_RELAYER_OPTION"
  /** There is no payment, deposit or withdrawal with this id. */
  | "UNKNOWN_OPERATION"
  /** No node answers. */
  | "NODE_UNREACHABLE"
  /** A node answers with an error, or with something that is no answer. */
  | "NODE_ERROR"
  /** What a node says does not fit together. */
  | "NODE_INCONSISTENT"
  /** A node is on another chain. */
  | "WRONG_CHAIN"
  /** There is no pool, or another one, where it was expected. */
  | "POOL_MISMATCH"
  /** A call would revert; details say with which error of the contract. */
  | "CALL_REVERTED"
  /** The prover proved another statement than it was asked for. */
  | "PROOF_MISMATCH";

export class RelayerError extends SottoError {
  override readonly name: string = "RelayerError";
  declare readonly code: RelayerErrorCode;

  constructor(code: RelayerErrorCode, message: string, details?: ErrorDetails, options?: { cause?: unknown }) {
    super(code, message, details, options);
  }
}

/** A call that would revert: an answer of the node, not a fault of it. */
export class CallReverted extends RelayerError {
  /** What the contract reverted with, hex; "0x" where the node does not say. */
  readonly data: string;

  constructor(data: string) {
    super("CALL_REVERTED", "the call would revert", { data: data.slice(0, 10) });
    this.data = data;
  }
}

/** The code of an error for logs and states. */
export function codeOf(error: unknown): string {
  return error instanceof SottoError ? error.code : "UNEXPECTED";
}
