// One JSON-RPC node, whose every answer is checked: it may be wrong about anything.
import { request } from "../net.ts";

const LARGEST_ANSWER = 4 * 1024 * 1024;

export interface Log {
  /** Lower case. */
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

export interface Receipt {
  readonly block: number;
  readonly logs: readonly Log[];
}

const record = (value: unknown): Readonly<Record<string, unknown>> => {
  if (typeof value !== "object" || value === null) throw new Error("a node's answer is no object");
  return value as Record<string, unknown>;
};

function readHex(value: unknown): string {
  if (typeof value !== "string" || !/^0x([0-9a-f]{2})*$/i.test(value)) throw new Error("a node's answer has no bytes");
  return value.toLowerCase();
}

export function readNumber(value: unknown): number {
  const number = typeof value === "string" && /^0x[0-9a-f]{1,13}$/i.test(value) ? Number(value) : -1;
  if (number < 0) throw new Error("a node's answer has no number below 2^52");
  return number;
}

function readLog(value: unknown): Log {
  const { address, topics, data } = record(value);
  if (!Array.isArray(topics)) throw new Error("a node's answer has a log without topics");
  return { address: readHex(address), topics: topics.map(readHex), data: readHex(data) };
}

export class Node {
  /** Host alone: the rest of the address may hold a key. */
  readonly name: string;
  readonly #url: string;
  readonly #timeout: number;

  constructor(url: string, timeout: number) {
    this.name = new URL(url).host;
    this.#url = url;
    this.#timeout = timeout;
  }

  async #ask(method: string, params: readonly unknown[]): Promise<unknown> {
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    };
    const { body } = await request(this.#url, { timeout: this.#timeout, size: LARGEST_ANSWER }, init);
    const answer = record(JSON.parse(new TextDecoder().decode(body)));
    if (answer["error"] !== undefined && answer["error"] !== null)
      throw new Error(`the node answers ${method} with an error`);
    if (answer["result"] === undefined) throw new Error(`the node gives ${method} no result`);
    return answer["result"];
  }

  async chainId(): Promise<number> {
    return readNumber(await this.#ask("eth_chainId", []));
  }

  async blockNumber(): Promise<number> {
    return readNumber(await this.#ask("eth_blockNumber", []));
  }

  async code(address: string): Promise<string> {
    return readHex(await this.#ask("eth_getCode", [address, "latest"]));
  }

  /** @param block its number; left out: the newest */
  async call(call: { to?: string; data: string }, block?: number): Promise<string> {
    return readHex(await this.#ask("eth_call", [call, block === undefined ? "latest" : `0x${block.toString(16)}`]));
  }

  /** Undefined where the transaction is not mined, as far as this node knows. */
  async receipt(hash: string): Promise<Receipt | undefined> {
    const answer = await this.#ask("eth_getTransactionReceipt", [hash]);
    if (answer === null) return undefined;
    const { blockNumber, logs } = record(answer);
    // Some nodes give a receipt without a block for what is only in their pool.
    if (blockNumber === null || blockNumber === undefined) return undefined;
    if (!Array.isArray(logs)) throw new Error("a node's answer has a receipt without logs");
    return { block: readNumber(blockNumber), logs: logs.map(readLog) };
  }
}
