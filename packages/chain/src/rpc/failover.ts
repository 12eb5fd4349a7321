import { delay } from "../delay.ts";
import { ChainError, isNodeFault } from "../errors.ts";
import { RpcEndpoint } from "./endpoint.ts";
import { isUnsupportedMethod } from "./responses.ts";

/** Where faults of nodes are reported. */
export interface ChainLog {
  warn(fields: object, message: string): void;
}

export interface ChainOptions {
  /** JSON-RPC addresses, the preferred one first. */
  urls: readonly string[];
  chainId: bigint;
  /** For one request, ms; 10 s by default. */
  timeoutMs?: number | undefined;
  /** Larger responses are not read to their end; 64 MiB by default. */
  maxResponseBytes?: number | undefined;
  /** How often a question that every node failed to answer is asked again, after 250 ms, 500 ms, 1 s ..; 0 by default. */
  retries?: number | undefined;
  log?: ChainLog | undefined;
  /** Now, ms. */
  clock?: (() => number) | undefined;
}

interface Member {
  readonly node: RpcEndpoint;
  /** Until when its answer to eth_chainId is believed, ms. */
  trustedUntil: number;
  /** Faults since its last answer. */
  failures: number;
  /** Asked after all others until then, ms. */
  pausedUntil: number;
}

/** An address may lead to another node tomorrow. */
const TRUST_MS = 60_000;
/** Before the first retry; doubled for each further one. */
const MIN_RETRY_MS = 250;
const MIN_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;

/** Several nodes of one chain. If one is at fault, the next is asked. */
export class Failover {
  readonly chainId: bigint;
  /** For one request, ms. */
  readonly timeoutMs: number;
  readonly #members: readonly Member[];
  readonly #clock: () => number;
  readonly #log: ChainLog | undefined;
  readonly #retries: number;

  /** @throws ChainError INVALID_OPTION */
  constructor(options: ChainOptions) {
    const {
      urls,
      chainId,
      timeoutMs = 10_000,
      maxResponseBytes = 64 * 1024 * 1024,
      retries = 0,
      log,
      clock = Date.now,
    } = options;
    if (urls.length === 0) throw new ChainError("INVALID_OPTION", "the address of at least one node is needed");
    this.chainId = chainId;
    this.timeoutMs = timeoutMs;
    this.#members = urls.map((url) => ({
      node: new RpcEndpoint(url, { timeoutMs, maxResponseBytes, clock }),
      ...{ trustedUntil: 0, failures: 0, pausedUntil: 0 },
    }));
    this.#clock = clock;
    this.#log = log;
    this.#retries = retries;
  }

  /**
   * Runs `action` with one node, and again with the next one if the node is at fault or its answer is not accepted. All
   * questions of one action are thus answered by one node. A node that was at fault is asked last for a while.
   * @returns the last answer if no node was at fault and no answer was accepted
   * @throws ChainError the fault of a node, if no answer was accepted: that node's answer might have been. WRONG_CHAIN
   * only if no node had another fault. RANGE_TOO_LARGE if a node refuses so many blocks and no other node that is
   * believed to work gives them. Errors that are not a node's fault are thrown at once.
   */
  async use<T>(action: (node: RpcEndpoint) => Promise<T>, accept: (answer: T) => boolean = () => true): Promise<T> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#tryAll(action, accept);
      } catch (error) {
        const transient = error instanceof ChainError && ["NODE_UNREACHABLE", "NODE_ERROR"].includes(error.code);
        if (!transient || attempt >= this.#retries) throw error;
        await delay(MIN_RETRY_MS * 2 ** attempt);
      }
    }
  }

  async #tryAll<T>(action: (node: RpcEndpoint) => Promise<T>, accept: (answer: T) => boolean): Promise<T> {
    let last: { answer: T } | undefined;
    let tooLarge: ChainError | undefined;
    const faults: ChainError[] = [];
    for (const member of this.#order()) {
      // A smaller range has an answer: no need to wait for a node that may hang.
      if (tooLarge !== undefined && this.#isPaused(member)) break;
      try {
        const answer = await this.#run(member, action);
        if (accept(answer)) return answer;
        last = { answer };
      } catch (error) {
        if (error instanceof ChainError && error.code === "RANGE_TOO_LARGE") tooLarge = error;
        else if (isNodeFault(error)) faults.push(error);
        else throw error;
      }
    }
    if (tooLarge !== undefined) throw tooLarge;
    if (last !== undefined && faults.length === 0) return last.answer;
    throw faults.findLast(({ code }) => code !== "WRONG_CHAIN") ?? faults.at(-1);
  }

  /** How many nodes had no fault lately. */
  get healthy(): number {
    return this.#members.filter((member) => !this.#isPaused(member)).length;
  }

  /**
   * Runs `action` with every node at once.
   * @param which all nodes, or those that had no fault lately
   */
  start<T>(which: "all" | "healthy", action: (node: RpcEndpoint) => Promise<T>): Promise<T>[] {
    const members = this.#members.filter((member) => which === "all" || !this.#isPaused(member));
    return members.map((member) => this.#run(member, action));
  }

  /** Asks a node last for a while: others answer better. */
  demote(node: RpcEndpoint, error: ChainError): void {
    for (const member of this.#members) if (member.node === node) this.#blame(member, error);
  }

  async #run<T>(member: Member, action: (node: RpcEndpoint) => Promise<T>): Promise<T> {
    try {
      await this.#checkChain(member);
      const answer = await action(member.node);
      member.failures = 0;
      return answer;
    } catch (error) {
      if (isNodeFault(error) && !isUnsupportedMethod(error)) this.#blame(member, error);
      throw error;
    }
  }

  /** Those that are believed to work first, in the order they were given. */
  #order(): Member[] {
    const paused = this.#members.filter((member) => this.#isPaused(member));
    return [...this.#members.filter((member) => !paused.includes(member)), ...paused];
  }

  #isPaused({ pausedUntil }: Member): boolean {
    return pausedUntil > this.#clock();
  }

  /** A node that did not answer may come back as another one, of another chain. */
  async #checkChain(member: Member): Promise<void> {
    if (member.trustedUntil > this.#clock()) return;
    const { node } = member;
    const found = await node.ask("eth_chainId", []);
    const chainId = typeof found === "string" && /^0x[0-9a-f]{1,64}$/i.test(found) ? BigInt(found) : undefined;
    if (chainId !== this.chainId) {
      const message = `${node.name} is on chain ${chainId ?? "unknown"}, expected ${this.chainId}`;
      throw new ChainError("WRONG_CHAIN", message, { node: node.name });
    }
    member.trustedUntil = this.#clock() + TRUST_MS;
  }

  #blame(member: Member, { code, message }: ChainError): void {
    member.trustedUntil = 0;
    // Questions that were under way together fail together: that is one fault.
    if (this.#isPaused(member)) return;
    const pause = Math.min(MAX_PAUSE_MS, MIN_PAUSE_MS * 2 ** member.failures);
    member.failures += 1;
    member.pausedUntil = this.#clock() + pause;
    this.#log?.warn({ node: member.node.name, code, pause }, message);
  }
}
