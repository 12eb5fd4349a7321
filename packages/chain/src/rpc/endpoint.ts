import { CallReverted, ChainError } from "../errors.ts";
import { postJsonRpc, type RequestLimits } from "./post.ts";
import { errorOf } from "./responses.ts";

/** Maximum calls in one batch request. */
export const MAX_BATCH = 100;
/** For how long a node that refused a batch gets smaller ones, ms. */
const SMALL_BATCHES_MS = 60_000;
/** Maximum concurrent requests if a node refuses batches. */
const SINGLES_AT_ONCE = 4;

type Params = readonly unknown[];

function returnRevert(error: unknown): CallReverted {
  if (error instanceof CallReverted) return error;
  throw error;
}

export interface EndpointOptions extends RequestLimits {
  /** Current time, ms. */
  readonly clock: () => number;
}

/** One JSON-RPC node. Only the envelope of its responses is checked here; values.ts checks the results. */
export class RpcEndpoint {
  /** The node's host only, because the rest of the URL may contain a key. */
  readonly name: string;
  readonly #url: string;
  readonly #options: EndpointOptions;
  /** HTTP requests that were sent, and how long the finished ones took together. */
  readonly #sent = { requests: 0, seconds: 0 };
  #lastId = 0;
  #batchSize = MAX_BATCH;
  #smallBatchesUntil = 0;

  /** @throws ChainError INVALID_OPTION */
  constructor(url: string, options: EndpointOptions) {
    const { protocol, username, password, host } = URL.canParse(url) ? new URL(url) : new URL("none:");
    if (!/^https?:$/.test(protocol) || username !== "" || password !== "")
      throw new ChainError(
        "INVALID_OPTION",
        "a node's URL must be http or https, like http://127.0.0.1:8545, without user and password",
      );
    this.name = host;
    this.#url = url;
    this.#options = options;
  }

  /** HTTP requests that were sent, a batch counts as one, and the seconds until their responses, all together. */
  get sent(): { readonly requests: number; readonly seconds: number } {
    return { ...this.#sent };
  }

  /**
   * Sends one request.
   * @throws ChainError NODE_UNREACHABLE, NODE_ERROR, SENDER_UNFUNDED; CallReverted; RpcErrorResponse
   */
  async ask(method: string, params: Params): Promise<unknown> {
    const question = this.#question(method, params);
    const answer = await this.#post(method, question);
    return this.#read(method, question.id, answer);
  }

  /**
   * Calls one method with many parameters, in batches of at most MAX_BATCH. If the node refuses a batch, smaller ones follow, and
   * finally single requests. Only if those fail too is the node at fault.
   * @returns the results in the order of the parameters; CallReverted for a call that reverts
   * @throws like `ask`, for the first call that fails in any other way
   */
  async askMany(method: string, questions: readonly Params[]): Promise<unknown[]> {
    const answers: unknown[] = [];
    let size = this.#smallBatchesUntil > this.#options.clock() ? this.#batchSize : MAX_BATCH;
    let refused = false;
    while (answers.length < questions.length) {
      const rest = questions.slice(answers.length);
      const found =
        size === 1 || rest.length === 1
          ? await Promise.all(
              rest.slice(0, SINGLES_AT_ONCE).map((params) => this.ask(method, params).catch(returnRevert)),
            )
          : await this.#askBatch(method, rest.slice(0, size));
      if (found === undefined) {
        size = Math.max(1, Math.floor(Math.min(size, rest.length) / 5));
        refused = true;
        continue;
      }
      answers.push(...found);
      if (!refused) continue;
      // The node accepted a smaller batch, so the size was the reason.
      refused = false;
      this.#batchSize = size;
      this.#smallBatchesUntil = this.#options.clock() + SMALL_BATCHES_MS;
    }
    return answers;
  }

  /**
   * Sends one batch. Returns undefined if the node responds, but not with a result for each call: nodes refuse batches in many
   * ways, as a whole or call by call.
   */
  async #askBatch(method: string, list: readonly Params[]): Promise<unknown[] | undefined> {
    const questions = list.map((params) => this.#question(method, params));
    try {
      const answers = await this.#post(method, questions);
      if (!Array.isArray(answers)) return undefined;
      const byId = new Map(answers.map((answer) => [(Object(answer) as { id?: unknown }).id, answer]));
      return questions.map(({ id }) => {
        try {
          return this.#read(method, id, byId.get(id));
        } catch (error) {
          return returnRevert(error);
        }
      });
    } catch (error) {
      if (error instanceof ChainError && error.code === "NODE_ERROR") return undefined;
      throw error;
    }
  }

  #question(method: string, params: Params) {
    this.#lastId += 1;
    return { jsonrpc: "2.0", id: this.#lastId, method, params };
  }

  async #post(method: string, question: object): Promise<unknown> {
    const start = performance.now();
    this.#sent.requests += 1;
    try {
      return await postJsonRpc(this.#url, method, question, this.#options);
    } finally {
      this.#sent.seconds += (performance.now() - start) / 1000;
    }
  }

  #read(method: string, id: number, value: unknown): unknown {
    const answer = Object(value) as { id?: unknown; result?: unknown; error?: unknown };
    if (answer.error) throw errorOf(this.name, method, answer.error);
    if (answer.id !== id) throw this.#fault(`responded to ${method} with the id of another request`);
    if (!("result" in answer)) throw this.#fault(`responded to ${method} without a result`);
    return answer.result;
  }

  #fault(what: string): ChainError {
    return new ChainError("NODE_ERROR", `${this.name} ${what}`, { node: this.name });
  }
}
