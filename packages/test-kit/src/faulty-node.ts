// A proxy in front of a node that times out, drops connections, returns false answers, or answers as of an older block.
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Transaction } from "ethers";

interface Question {
  id: number;
  method: string;
  params: unknown[];
}

/** Replaces the node's response to a request; undefined: the real node's response. */
type Mode = (question: Question, response: ServerResponse) => object | undefined | "handled";
type Answer = Exclude<ReturnType<Mode>, undefined>;

/** Methods whose second parameter is a block. */
const STATE_METHODS = /^eth_(?:call|estimateGas|getBalance|getCode|getTransactionCount)$/;

export const MODES = {
  honest: () => undefined,
  hangs: () => "handled",
  breaksOff: (_, response) => {
    response.socket?.destroy();
    return "handled";
  },
  talksNonsense: (_, response) => {
    response.end("<html>maintenance</html>");
    return "handled";
  },
  limitsRequests: (_, response) => {
    response.writeHead(429, { "retry-after": "1" }).end("too many requests");
    return "handled";
  },
  truncates: (_, response) => {
    response.end('{"jsonrpc":"2.0","id":1,"resu');
    return "handled";
  },
  isOverloaded: ({ id }) => ({ id, error: { code: -32005, message: "rate limit exceeded" } }),
  hasNoKey: ({ id }) => ({ id, error: { code: -32000, message: "Unauthorized" } }),
  hasUsedUpItsDay: ({ id }) => ({ id, error: { code: -32005, message: "daily request count exceeded" } }),
  hasAnInternalError: ({ id }) => ({ id, error: { code: -32603, message: "internal error" } }),
  hasPrunedItsState: ({ id, method }) =>
    STATE_METHODS.test(method) ? { id, error: { code: -32000, message: "state is pruned" } } : undefined,
  isOnAnotherChain: ({ id, method }) => (method === "eth_chainId" ? { id, result: "0x1" } : undefined),
  estimatesNoGas: ({ id, method }) =>
    method === "eth_estimateGas" ? { id, error: { code: -32000, message: "the method is disabled" } } : undefined,
  hidesEvents: ({ id, method }) => (method === "eth_getLogs" ? { id, result: [] } : undefined),
  swallowsTransactions: ({ id, method }) =>
    method === "eth_sendRawTransaction" ? { id, result: `0x${"00".repeat(32)}` } : undefined,
  givesWrongForms: ({ id, method }) => (method === "eth_chainId" ? undefined : { id, result: { number: "seven" } }),
} as const satisfies Record<string, Mode>;

const error = ({ id }: Pick<Question, "id">, message: string) => ({
  jsonrpc: "2.0",
  id,
  error: { code: -32000, message },
});

export class FaultyNode {
  /**
   * isBehind: the node lacks the newest `lag` blocks. isPartlyBehind: several nodes behind one URL, of which the one that
   * estimates gas is behind. hasOnlyNewState: it has pruned the state of all blocks but the newest.
   */
  mode: keyof typeof MODES | "isBehind" | "isPartlyBehind" | "hasOnlyNewState" = "honest";
  /** Blocks. */
  lag = 5;
  /** The node never answers a request for the logs of more blocks. */
  widestLogs = Number.POSITIVE_INFINITY;
  /** The node refuses transactions with a lower priority fee, wei, even if it suggests less. */
  lowestTip = 0n;
  /** Number of calls of each method. */
  readonly asked = new Map<string, number>();
  /** All calls, in order of arrival. */
  readonly questions: Question[] = [];
  /** Number of HTTP requests; each contains one call or a batch of calls. */
  requests = 0;
  readonly #server: Server;
  /** The node's URL. */
  target: string;
  readonly #sockets = new Set<Socket>();

  private constructor(target: string) {
    this.target = target;
    this.#server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk) => {
        body += chunk;
      });
      request.on("end", () => void this.#respond(JSON.parse(body), response).catch(() => response.destroy()));
    });
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  static async start(target: string): Promise<FaultyNode> {
    const proxy = new FaultyNode(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #respond(request: Question | Question[], response: ServerResponse): Promise<void> {
    this.requests += 1;
    const answers: Answer[] = [];
    for (const question of [request].flat()) answers.push(await this.#answer(question, response));
    if (answers.includes("handled")) return;
    response.end(JSON.stringify(Array.isArray(request) ? answers : answers[0]));
  }

  async #answer(question: Question, response: ServerResponse): Promise<Answer> {
    this.questions.push(question);
    this.asked.set(question.method, (this.asked.get(question.method) ?? 0) + 1);
    const { mode } = this;
    if (question.method === "eth_getLogs") {
      const { fromBlock, toBlock } = question.params[0] as { fromBlock: string; toBlock: string };
      if (Number(toBlock) - Number(fromBlock) >= this.widestLogs) return "handled";
    }
    if (this.lowestTip > 0n && question.method === "eth_sendRawTransaction") {
      const { maxPriorityFeePerGas } = Transaction.from(String(question.params[0]));
      if (maxPriorityFeePerGas !== null && maxPriorityFeePerGas < this.lowestTip) {
        const found = `gas tip cap ${maxPriorityFeePerGas}, minimum needed ${this.lowestTip}`;
        return error(question, `transaction gas price below minimum: ${found}`);
      }
    }
    if (mode === "isBehind" || (mode === "isPartlyBehind" && question.method === "eth_estimateGas"))
      return this.#behind(question);
    if (mode === "hasOnlyNewState") {
      const block = STATE_METHODS.test(question.method) ? question.params[1] : undefined;
      const hasIt = typeof block !== "string" || !block.startsWith("0x") || Number(block) >= (await this.#height());
      if (!hasIt) return error(question, "missing trie node");
    } else if (mode !== "isPartlyBehind") {
      const answer = MODES[mode](question, response);
      if (answer !== undefined) return answer === "handled" ? answer : { jsonrpc: "2.0", ...answer };
    }
    return JSON.parse(await this.#ask(question));
  }

  /** The answer of a node that lacks the newest blocks. */
  async #behind({ id, method, params }: Question): Promise<Answer> {
    const height = Math.max(0, (await this.#height()) - this.lag);
    const hex = `0x${height.toString(16)}`;
    const isMissing = (number: unknown) => typeof number === "string" && /^0x/.test(number) && Number(number) > height;
    if (method === "eth_blockNumber") return { jsonrpc: "2.0", id, result: hex };
    const [first, second] = params;
    if (STATE_METHODS.test(method)) {
      if (isMissing(second)) return error({ id }, "header not found");
      params = [first, second === "latest" || second === undefined ? hex : second];
    } else if (method === "eth_getBlockByNumber") {
      if (isMissing(first)) return { jsonrpc: "2.0", id, result: null };
      params = [first === "latest" ? hex : first, second];
    } else if (method === "eth_getLogs") {
      const filter = first as { fromBlock: string; toBlock: string };
      if (isMissing(filter.fromBlock)) return { jsonrpc: "2.0", id, result: [] };
      if (isMissing(filter.toBlock)) params = [{ ...filter, toBlock: hex }];
    }
    const answer = JSON.parse(await this.#ask({ id, method, params }));
    const ofTransaction = method === "eth_getTransactionReceipt" || method === "eth_getTransactionByHash";
    return ofTransaction && isMissing(answer.result?.blockNumber) ? { ...answer, result: null } : answer;
  }

  async #height(): Promise<number> {
    return Number(JSON.parse(await this.#ask({ id: 0, method: "eth_blockNumber", params: [] })).result);
  }

  async #ask(question: Question): Promise<string> {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ jsonrpc: "2.0", ...question });
    return (await fetch(this.target, { method: "POST", headers, body })).text();
  }
}
