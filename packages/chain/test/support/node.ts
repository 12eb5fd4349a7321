import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface Question {
  id: number;
  method: string;
  params: unknown[];
}

/** Never responds. */
export const HANG = Symbol("hang");
/** Closes the connection. */
export const GONE = Symbol("gone");
/** Other fields of the response instead of a result. */
export class Envelope {
  readonly fields: object;

  constructor(fields: object) {
    this.fields = fields;
  }
}
/** A response body that is not JSON-RPC. */
export class Body {
  readonly text: string;
  readonly status: number;

  constructor(text: string, status = 200) {
    this.text = text;
    this.status = status;
  }
}
export const rpcError = (message: string, code = -32000, data?: unknown) =>
  new Envelope({ error: { code, message, data } });

type Answer = unknown | ((params: unknown[]) => unknown);

/** A JSON-RPC server whose responses the test defines. */
export class TestNode {
  /** Results by method; a function receives the parameters. For other methods it closes the connection. */
  answers: Record<string, Answer> = { eth_chainId: "0x7a69" };
  /** Overrides the response to a batch; by default, the array of the single responses. */
  batchAnswer: ((questions: readonly Question[]) => unknown) | undefined;
  /** Methods of all calls, in order. */
  readonly asked: string[] = [];
  /** Sizes of all batches. */
  readonly batches: number[] = [];
  /** Called with each call before the response. */
  onQuestion: (method: string) => void = () => undefined;
  readonly #server: Server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    this.#respond(JSON.parse(Buffer.concat(parts).toString()), response);
  });

  static async start(answers: Record<string, Answer> = {}): Promise<TestNode> {
    const node = new TestNode();
    Object.assign(node.answers, answers);
    await new Promise<void>((resolve) => node.#server.listen(0, "127.0.0.1", resolve));
    return node;
  }

  get name(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `http://${this.name}/secret-key`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  count(method: string): number {
    return this.asked.filter((one) => one === method).length;
  }

  #respond(question: Question | Question[], response: ServerResponse): void {
    const questions = [question].flat();
    for (const { method } of questions) {
      this.asked.push(method);
      this.onQuestion(method);
    }
    if (Array.isArray(question)) this.batches.push(question.length);
    const whole = Array.isArray(question) ? this.batchAnswer?.(question) : undefined;
    const answers = whole === undefined ? questions.map((one) => this.#answer(one)) : [whole];
    const [special] = answers.filter((answer) => answer === HANG || answer === GONE || answer instanceof Body);
    if (special === HANG) return;
    if (special === GONE) return void response.destroy();
    if (special instanceof Body) return void response.writeHead(special.status).end(special.text);
    response.end(JSON.stringify(whole ?? (Array.isArray(question) ? answers : answers[0])));
  }

  #answer({ id, method, params }: Question): unknown {
    const given = this.answers[method];
    const answer: unknown = typeof given === "function" ? given(params) : given;
    if (answer === HANG || answer instanceof Body) return answer;
    if (answer === undefined || answer === GONE) return GONE;
    return { jsonrpc: "2.0", id, ...(answer instanceof Envelope ? answer.fields : { result: answer }) };
  }
}

export const HASH = `0x${"11".repeat(32)}`;
export const ADDRESS = `0x${"22".repeat(20)}`;
export const block = (number: number) => ({
  number: `0x${number.toString(16)}`,
  hash: HASH,
  timestamp: "0x1",
  baseFeePerGas: "0x2",
});
/** A log as a node returns it. */
export const LOG = {
  address: ADDRESS,
  topics: [HASH],
  data: "0x",
  blockNumber: "0x5",
  blockHash: HASH,
  transactionHash: HASH,
  transactionIndex: "0x0",
  logIndex: "0x1",
  removed: false,
};
export const receipt = (transactionHash: string) => ({
  transactionHash,
  from: ADDRESS,
  blockNumber: "0x7",
  blockHash: HASH,
  status: "0x1",
  gasUsed: "0x5208",
  effectiveGasPrice: "0x2",
  logs: [],
});
