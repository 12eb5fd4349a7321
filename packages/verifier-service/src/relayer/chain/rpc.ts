import { readBody, SottoError } from "@sotto/protocol";
import { CallReverted, RelayerError } from "../errors.ts";

/** One JSON-RPC node. */
export interface RpcNode {
  /** Its host: the rest of the address may hold a key. */
  readonly name: string;
  /** @throws RelayerError NODE_UNREACHABLE, NODE_ERROR; CallReverted */
  ask(method: string, params: readonly unknown[]): Promise<unknown>;
}

interface RpcErrorBody {
  code?: unknown;
  message?: unknown;
  data?: unknown;
}

/** Bytes. */
const LARGEST_ANSWER = 64 * 1024 * 1024;

/** An error the node answered with, which may be about the question and not about the node. */
export class RpcAnswer extends RelayerError {
  readonly text: string;

  constructor(name: string, method: string, { code, message }: RpcErrorBody) {
    super("NODE_ERROR", `${name} answers ${method} with error ${String(code)}`);
    this.text = String(message ?? "");
  }
}

/** @param timeout ms for one question */
export function rpcNode(url: string, timeout: number): RpcNode {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new RelayerError("INVALID_RELAYER_OPTION", "a node's address must be an http or https URL");
  const name = new URL(url).host;
  let questions = 0;
  return {
    name,
    async ask(method, params) {
      // Of this question alone: several are on their way at once.
      questions += 1;
      const id = questions;
      const question = JSON.stringify({ jsonrpc: "2.0", id, method, params });
      const answer = await post(url, question, timeout).catch((cause: unknown) => {
        // Like the answer of a node that does not send so much: of a smaller range there is less.
        if (cause instanceof SottoError)
          throw new RpcAnswer(name, method, { code: cause.code, message: "response size limit" });
        throw new RelayerError("NODE_UNREACHABLE", `${name} does not answer ${method}`, { node: name }, { cause });
      });
      return readAnswer(name, method, id, answer);
    },
  };
}

async function post(url: string, body: string, timeout: number): Promise<string> {
  const signal = AbortSignal.timeout(timeout);
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body, signal, redirect: "error" });
  const text = new TextDecoder().decode(await readBody(response, LARGEST_ANSWER, signal));
  // Some nodes answer errors of JSON-RPC with 4xx or 5xx: the body says which.
  if (!response.ok && !text.startsWith("{")) throw new Error(`HTTP status ${response.status}`);
  return text;
}

function readAnswer(name: string, method: string, id: number, text: string): unknown {
  let answer: { id?: unknown; result?: unknown; error?: RpcErrorBody };
  try {
    answer = JSON.parse(text);
  } catch (cause) {
    throw new RelayerError("NODE_ERROR", `${name} answers ${method} with no JSON`, { node: name }, { cause });
  }
  if (answer === null || typeof answer !== "object" || (answer.id !== id && !answer.error))
    throw new RelayerError("NODE_ERROR", `${name} answers another question than ${method}`, { node: name });
  if (answer.error) {
    const data = revertData(answer.error);
    if (data !== undefined) throw new CallReverted(data);
    throw new RpcAnswer(name, method, answer.error);
  }
  if (!("result" in answer)) throw new RelayerError("NODE_ERROR", `${name} gives ${method} no result`, { node: name });
  return answer.result;
}

/** What a call reverted with; there are several ways to say it. */
function revertData({ code, message, data }: RpcErrorBody): string | undefined {
  const inner = data !== null && typeof data === "object" && "data" in data ? data.data : data;
  if (typeof inner === "string" && /^0x([0-9a-f]{2})*$/i.test(inner)) return inner.toLowerCase();
  const reverted = code === 3 || /revert/i.test(String(message ?? ""));
  return reverted ? "0x" : undefined;
}
