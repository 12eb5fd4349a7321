import { readBody, SottoError } from "@sotto/protocol";
import { ChainError, RpcErrorResponse } from "../errors.ts";

export interface RequestLimits {
  /** Timeout of the whole request, ms. */
  readonly timeoutMs: number;
  /** Maximum size of a response. */
  readonly maxResponseBytes: number;
}

/**
 * Posts one JSON-RPC request or batch to a node. Only checks that the response is JSON. Redirects are refused.
 * @param method the called method, which errors name
 * @throws ChainError NODE_UNREACHABLE if there is no HTTP response in time, NODE_ERROR if it is too large or not JSON
 */
export async function postJsonRpc(
  url: string,
  method: string,
  question: object,
  { timeoutMs, maxResponseBytes }: RequestLimits,
): Promise<unknown> {
  const signal = AbortSignal.timeout(timeoutMs);
  const headers = { "content-type": "application/json" };
  const node = new URL(url).host;
  let text: string;
  let status: number;
  try {
    const body = JSON.stringify(question);
    const response = await fetch(url, { method: "POST", headers, body, signal, redirect: "error" });
    status = response.status;
    text = new TextDecoder().decode(await readBody(response, maxResponseBytes, signal));
  } catch (cause) {
    // Treated like a node's refusal of a large range, because a smaller range has fewer logs.
    if (cause instanceof SottoError) throw new RpcErrorResponse(node, method, undefined, cause.message, { cause });
    throw new ChainError("NODE_UNREACHABLE", `${node} does not answer ${method}`, { node }, { cause });
  }
  try {
    // Some nodes return JSON-RPC errors with a status of 4xx or 5xx.
    return JSON.parse(text);
  } catch (cause) {
    const what = status === 200 ? "something that is not JSON" : `HTTP status ${status}`;
    throw new ChainError("NODE_ERROR", `${node} answers ${method} with ${what}`, { node }, { cause });
  }
}
