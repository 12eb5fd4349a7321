// A JSON-RPC node over HTTP that answers with a recorded pool of many notes. Its events have the form of real ones; their
// values are hashes of counters, so every run has the same pool.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { emptyRoots, FIELD_MODULUS, TREE_DEPTH } from "@sotto/protocol";
import { poolInterface } from "@sotto/wallet";

const CHAIN_ID = 31337;
const POOL = `0x${"90".repeat(20)}`;
const TOKEN = `0x${"70".repeat(20)}`;
const PAYMENTS_PER_BLOCK = 25;
const APPEND_LEAVES = 64;
const BLOCK_SECONDS = 60;
const GAS = [290_000, 320_000] as const;
/** Nodes refuse large ranges; the follower then asks for smaller ones. */
const MAX_RANGE = 500;

const word = (value: number | bigint): string => `0x${value.toString(16).padStart(64, "0")}`;
const quantity = (value: number): string => `0x${value.toString(16)}`;
const field = (label: string): bigint =>
  BigInt(`0x${createHash("sha256").update(label).digest("hex")}`) % FIELD_MODULUS;

interface RecordedLog {
  readonly blockNumber: number;
  readonly transactionHash: string;
  readonly fields: object;
}

export class RecordedNode {
  readonly #blocks: RecordedLog[][] = [[]];
  readonly #byHash = new Map<string, RecordedLog>();
  readonly #start: number;
  #leaves = 0;
  #appended = 0;
  #server: Server | undefined;

  /** @param notes at least this many @param now time of the newest block, seconds */
  constructor(notes: number, now: number) {
    const blocks = Math.ceil(notes / 2 / PAYMENTS_PER_BLOCK);
    this.#start = now - (blocks + 1) * BLOCK_SECONDS;
    for (let block = 1; block <= blocks; block += 1) this.#mine(block);
  }

  /** The commitment of the first note. */
  get commitment(): string {
    return word(field("recipient commitment 0"));
  }

  /** The manifest fields that the page compares with the chain are invented; the page shows that they differ. */
  get deployment(): object {
    const contract = { address: TOKEN, codeHash: word(0) };
    return {
      version: 1,
      network: "recorded",
      set: "development",
      chainId: CHAIN_ID,
      pool: POOL,
      token: TOKEN,
      deploymentBlock: 0,
      smallestDeposit: "1",
      contracts: {
        pool: { ...contract, address: POOL },
        paymentVerifier: contract,
        withdrawalVerifier: contract,
        noteAppendVerifier: contract,
        noteHasher: contract,
      },
      verificationKeys: { payment: "00".repeat(32) },
    };
  }

  #mine(block: number): void {
    const logs: RecordedLog[] = [];
    const add = (name: string, values: readonly unknown[]) => {
      const blockNumber = block;
      const transactionHash = word(field(`transaction ${block} ${logs.length}`));
      const { topics, data } = poolInterface.encodeEventLog(name, [...values]);
      const log = {
        blockNumber,
        transactionHash,
        fields: {
          address: POOL,
          topics,
          data,
          blockNumber: quantity(block),
          blockHash: this.#hashOf(block),
          transactionHash,
          logIndex: quantity(logs.length),
          blockTimestamp: quantity(this.#timeOf(block)),
        },
      };
      logs.push(log);
      this.#byHash.set(transactionHash, log);
    };
    for (let i = 0; i < PAYMENTS_PER_BLOCK; i += 1) {
      const value = (name: string) => field(`${name} ${this.#leaves}`);
      const hints = ["R", "C", "amount", "change"].map(value);
      const commitments = ["recipient commitment", "change commitment"].map(value);
      add("Settled", [value("nullifier"), word(value("digest")), ...hints, ...commitments, this.#leaves]);
      this.#leaves += 2;
    }
    while (this.#leaves - this.#appended >= APPEND_LEAVES) {
      add("Appended", [field(`root ${this.#appended}`), this.#appended, APPEND_LEAVES]);
      this.#appended += APPEND_LEAVES;
    }
    this.#blocks.push(logs);
  }

  #hashOf = (block: number): string => word(field(`block ${block}`));
  #timeOf = (block: number): number => this.#start + block * BLOCK_SECONDS;

  #block(number: number): object | null {
    if (number >= this.#blocks.length) return null;
    return { number: quantity(number), hash: this.#hashOf(number), timestamp: quantity(this.#timeOf(number)) };
  }

  #receipt(hash: string): object | null {
    const log = this.#byHash.get(hash);
    if (log === undefined) return null;
    const gas = GAS[0] + Number(field(hash) % BigInt(GAS[1] - GAS[0]));
    return {
      transactionHash: hash,
      from: TOKEN,
      blockNumber: quantity(log.blockNumber),
      blockHash: this.#hashOf(log.blockNumber),
      status: "0x1",
      gasUsed: quantity(gas),
      effectiveGasPrice: "0x1",
      logs: [log.fields],
    };
  }

  #call(data: string): string {
    const asked = poolInterface.parseTransaction({ data });
    const [size, appended] = [this.#leaves, this.#appended];
    const answers: Record<string, unknown> = {
      token: TOKEN,
      smallestDeposit: 1n,
      EMPTY_ROOT: emptyRoots()[TREE_DEPTH],
      queue: [size, appended, 0, 0, 0, 0, 0],
      paymentVerifier: TOKEN,
      withdrawalVerifier: TOKEN,
      noteAppendVerifier: TOKEN,
      noteHasher: TOKEN,
    };
    if (asked === null || !(asked.name in answers)) throw new Error(`the recorded node cannot answer ${data}`);
    return poolInterface.encodeFunctionResult(asked.name, [answers[asked.name]]);
  }

  #answer(method: string, params: readonly unknown[]): unknown {
    const [first] = params;
    switch (method) {
      case "eth_chainId":
        return quantity(CHAIN_ID);
      case "eth_getBlockByNumber":
        return this.#block(first === "latest" ? this.#blocks.length - 1 : Number(first));
      case "eth_getLogs": {
        const { fromBlock, toBlock } = first as Record<string, string>;
        const [from, to] = [Number(fromBlock), Number(toBlock)];
        if (to - from >= MAX_RANGE) throw new Error(`more than ${MAX_RANGE} blocks`);
        return this.#blocks.slice(from, to + 1).flatMap((logs) => logs.map(({ fields }) => fields));
      }
      case "eth_getCode":
        return "0x60";
      case "eth_call":
        return this.#call(String((first as Record<string, unknown>)["data"]));
      case "eth_getTransactionReceipt":
        return this.#receipt(String(first));
      default:
        throw new Error(`the recorded node has no ${method}`);
    }
  }

  #respond = (request: unknown): object => {
    const { id, method, params } = request as { id: number; method: string; params: unknown[] };
    try {
      return { jsonrpc: "2.0", id, result: this.#answer(method, params) };
    } catch (error) {
      return { jsonrpc: "2.0", id, error: { code: -32005, message: (error as Error).message } };
    }
  };

  /** @returns its URL */
  async listen(): Promise<string> {
    const server = createServer(async (request, response) => {
      response.setHeader("access-control-allow-origin", "*");
      response.setHeader("access-control-allow-headers", "content-type");
      if (request.method === "OPTIONS") return void response.writeHead(204).end();
      const text = await bodyOf(request);
      // A page aborts its requests when it closes.
      if (text === "") return void response.destroy();
      const body: unknown = JSON.parse(text);
      const answer = Array.isArray(body) ? body.map(this.#respond) : this.#respond(body);
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server?.closeAllConnections();
    this.#server?.close();
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) body += chunk;
  return body;
}
