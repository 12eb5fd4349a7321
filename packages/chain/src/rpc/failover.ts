import { delay } from "../delay.ts";
import { ChainError, isNodeFault } from "../errors.ts";
import { RpcEndpoint } from "./endpoint.ts";
import { isUnsupportedMethod } from "./responses.ts";

/** Receives warnings about faults of nodes. */
export interface ChainLog {
  /** Called when a node is at fault; `fields` names the node and the error, without the URL's secrets. */
  warn(fields: object, message: string): void;
}

/** The nodes of a chain, and the limits of requests to them. */
export interface ChainOptions {
  /** URLs of JSON-RPC nodes, in order of preference. */
  urls: readonly string[];
  /** EIP-155 id. Each node must confirm it before it is used, and every minute after that. */
  chainId: bigint;
  /** Timeout of one request, ms; default 10,000. */
  timeoutMs?: number | undefined;
  /** Maximum size of a response; default 64 MiB. */
  maxResponseBytes?: number | undefined;
  /** Retries if every node failed, after 250 ms, 500 ms, 1 s ..; default 0. */
  retries?: number | undefined;
  /** Default: faults of nodes are not logged. */
  log?: ChainLog | undefined;
  /** Current time, ms; default `Date.now`. */
  clock?: (() => number) | undefined;
}

interface Member {
  readonly node: RpcEndpoint;
  /** The time until which its chain id is not checked again, ms. */
  trustedUntil: number;
  /** Faults since its last success. */
  failures: number;
  /** Until this time it is used only after all others, ms. */
  pausedUntil: number;
}

/** Interval between checks of a node's chain id, because a URL may lead to another node later. */
const TRUST_MS = 60_000;
/** Pause before the first retry; doubled for each further one. */
const MIN_RETRY_MS = 250;
const MIN_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;

/** Several nodes of one chain. If one is at fault, it fails over to the next. */
export class Failover {
  readonly chainId: bigint;
  /** Timeout of one request, ms. */
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
    if (urls.length === 0)
      throw new ChainError("INVALID_OPTION", "urls is empty, expected the URL of at least one node");
    this.chainId = chainId;
    this.timeoutMs = timeoutMs;
    this.#members = urls.map((url) => ({
      node: new RpcEndpoint(url, { timeoutMs, maxResponseBytes, clock }),
      trustedUntil: 0,
      failures: 0,
      pausedUntil: 0,
    }));
    this.#clock = clock;
    this.#log = log;
    this.#retries = retries;
  }

  /**
   * Runs `action` with one node, so that all its requests go to the same node. Fails over to the next node if that node is at
   * fault or its result is not accepted. A node that was at fault is used last for a while.
   * @returns the first accepted result; the last result if none was accepted and no node was at fault
   * @throws ChainError the fault of a node, if no result was accepted; WRONG_CHAIN only if no node had another fault;
   * RANGE_TOO_LARGE if a node refuses the range and no other healthy node returns its logs. Errors that are not a
   * node's fault are thrown at once.
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
      // The caller can retry with a smaller range, so this does not wait for a paused node, which may hang.
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

  /** Number of nodes that are not paused after a fault. */
  get healthy(): number {
    return this.#members.filter((member) => !this.#isPaused(member)).length;
  }

  /**
   * Runs `action` with every node at once.
   * @param which all nodes, or those that are not paused
   */
  start<T>(which: "all" | "healthy", action: (node: RpcEndpoint) => Promise<T>): Promise<T>[] {
    const members = this.#members.filter((member) => which === "all" || !this.#isPaused(member));
    return members.map((member) => this.#run(member, action));
  }

  /** Pauses a node, so that it is used last for a while. */
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

  /** All nodes in the configured order, the paused ones last. */
  #order(): Member[] {
    const paused = this.#members.filter((member) => this.#isPaused(member));
    return [...this.#members.filter((member) => !paused.includes(member)), ...paused];
  }

  #isPaused({ pausedUntil }: Member): boolean {
    return pausedUntil > this.#clock();
  }

  /** Checks the chain id after each fault too, because the URL may now lead to a node of another chain. */
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
    // Concurrent requests fail together, which counts as one fault.
    if (this.#isPaused(member)) return;
    const pause = Math.min(MAX_PAUSE_MS, MIN_PAUSE_MS * 2 ** member.failures);
    member.failures += 1;
    member.pausedUntil = this.#clock() + pause;
    this.#log?.warn({ node: member.node.name, code, pause }, message);
  }
}
