// A proxy between the relayer and its node that times out, drops connections or returns false answers.
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

interface Question {
  id: number;
  method: string;
  params: unknown[];
}

/** Replaces the node's response to a request; undefined: the real node's response. */
type Mode = (question: Question, response: ServerResponse) => object | undefined | "handled";
type Answer = Exclude<ReturnType<Mode>, undefined>;

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
  isOverloaded: ({ id }) => ({ id, error: { code: -32005, message: "rate limit exceeded" } }),
  hasNoKey: ({ id }) => ({ id, error: { code: -32000, message: "Unauthorized" } }),
  hasUsedUpItsDay: ({ id }) => ({ id, error: { code: -32005, message: "daily request count exceeded" } }),
  hasAnInternalError: ({ id }) => ({ id, error: { code: -32603, message: "internal error" } }),
  hasPrunedItsState: ({ id, method }) =>
    /^eth_(?:call|estimateGas|getBalance|getCode|getTransactionCount)$/.test(method)
      ? { id, error: { code: -32000, message: "state is pruned" } }
      : undefined,
  isOnAnotherChain: ({ id, method }) => (method === "eth_chainId" ? { id, result: "0x1" } : undefined),
  estimatesNoGas: ({ id, method }) =>
    method === "eth_estimateGas" ? { id, error: { code: -32000, message: "the method is disabled" } } : undefined,
  hidesEvents: ({ id, method }) => (method === "eth_getLogs" ? { id, result: [] } : undefined),
  swallowsTransactions: ({ id, method }) =>
    method === "eth_sendRawTransaction" ? { id, result: `0x${"00".repeat(32)}` } : undefined,
  givesWrongForms: ({ id, method }) => (method === "eth_chainId" ? undefined : { id, result: { number: "seven" } }),
} as const satisfies Record<string, Mode>;

export class FaultyNode {
  mode: keyof typeof MODES | "isBehind" = "honest";
  /** Number of calls of each method. */
  readonly asked = new Map<string, number>();
  /** All calls, in order of arrival. */
  readonly questions: Question[] = [];
  /** Number of HTTP requests; each contains one call or a batch of calls. */
  requests = 0;
  readonly #server: Server;
  readonly #target: string;
  readonly #sockets = new Set<Socket>();

  private constructor(target: string) {
    this.#target = target;
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
    if (mode === "isBehind") {
      // This node is five blocks behind.
      if (question.params[0] === "latest") question.params[0] = await this.#older(5);
    } else {
      const answer = MODES[mode](question, response);
      if (answer !== undefined) return answer === "handled" ? answer : { jsonrpc: "2.0", ...answer };
    }
    return JSON.parse(await this.#ask(question));
  }

  async #older(blocks: number): Promise<string> {
    const answer = await this.#ask({ id: 0, method: "eth_blockNumber", params: [] });
    return `0x${(Number(JSON.parse(answer).result) - blocks).toString(16)}`;
  }

  async #ask(question: Question): Promise<string> {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ jsonrpc: "2.0", ...question });
    return (await fetch(this.#target, { method: "POST", headers, body })).text();
  }
}
