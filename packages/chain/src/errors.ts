import { type ErrorDetails, SottoError } from "@sotto/protocol";

/** Error codes of this package. Stable. */
export type ChainErrorCode =
  /** An option is missing or malformed. */
  | "INVALID_OPTION"
  /** No node answers. */
  | "NODE_UNREACHABLE"
  /** A node answers with an error, or with something that is not an answer to the question. */
  | "NODE_ERROR"
  /** What a node says contradicts itself, or what was read before. */
  | "NODE_INCONSISTENT"
  /** A node is on another chain. */
  | "WRONG_CHAIN"
  /** The call would revert; details hold the selector of the contract's error. */
  | "CALL_REVERTED"
  /** The sending account cannot pay for the gas of the call. */
  | "SENDER_UNFUNDED"
  /** No node gives the logs of so many blocks at once: ask for fewer. */
  | "RANGE_TOO_LARGE";

export class ChainError extends SottoError {
  override readonly name: string = "ChainError";
  declare readonly code: ChainErrorCode;

  constructor(code: ChainErrorCode, message: string, details?: ErrorDetails, options?: { cause?: unknown }) {
    super(code, message, details, options);
  }
}

/** The call would revert. This is an answer: every other node would give the same. */
export class CallReverted extends ChainError {
  /** The revert data, hex; "0x" if the node does not say. */
  readonly data: string;

  constructor(data: string) {
    super("CALL_REVERTED", "the call would revert", { data: data.slice(0, 10) });
    this.data = data;
  }
}

/** The `error` of a JSON-RPC response that is neither a revert nor a lack of funds, or a response that is too large. */
export class RpcErrorResponse extends ChainError {
  /** The node's own code. */
  readonly rpcCode: number | undefined;
  /** The node's own words. They may hold a key: never part of `message`. */
  readonly text: string;

  constructor(
    node: string,
    method: string,
    rpcCode: number | undefined,
    text: string,
    options?: { readonly cause?: unknown },
  ) {
    super("NODE_ERROR", `${node} answers ${method} with error ${rpcCode ?? "without a code"}`, { node }, options);
    this.rpcCode = rpcCode;
    this.text = text;
  }
}

const FAULTS: readonly ChainErrorCode[] = ["NODE_UNREACHABLE", "NODE_ERROR", "NODE_INCONSISTENT", "WRONG_CHAIN"];

/** Whether one node is at fault, so that another may answer. All other errors are final. */
export function isNodeFault(error: unknown): error is ChainError {
  return error instanceof ChainError && FAULTS.includes(error.code);
}
