import { createErrorClass } from "@sotto/protocol";
import type { CHAIN_ERRORS } from "./error-definitions.ts";

/** The codes of a {@link ChainError}. */
export type ChainErrorCode = keyof typeof CHAIN_ERRORS;

/** An error of a node, or of a call of the chain. */
export const ChainError = /* @__PURE__ */ createErrorClass<typeof CHAIN_ERRORS>("ChainError");
export type ChainError = InstanceType<typeof ChainError>;

/** The call would revert. This is not a fault of the node: every other node would return the same. */
export class CallReverted extends ChainError {
  /** The revert data, hex; "0x" if the node does not return it. */
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
  /** The node's message. It may contain a key, so it is never part of `message`. */
  readonly text: string;

  constructor(
    node: string,
    method: string,
    rpcCode: number | undefined,
    text: string,
    options?: { readonly cause?: unknown },
  ) {
    super("NODE_ERROR", `${node} responded to ${method} with error ${rpcCode ?? "without a code"}`, { node }, options);
    this.rpcCode = rpcCode;
    this.text = text;
  }
}

/** The codes of the errors that are one node's fault. */
export const NODE_FAULTS = ["NODE_UNREACHABLE", "NODE_ERROR", "NODE_INCONSISTENT", "WRONG_CHAIN"] as const;

/** The code of an error that is one node's fault. */
export type NodeFaultCode = (typeof NODE_FAULTS)[number];

/** Whether the error is one node's fault, so that another node may succeed. All other errors are final. */
export function isNodeFault(error: unknown): error is ChainError {
  return error instanceof ChainError && NODE_FAULTS.includes(error.code as NodeFaultCode);
}
