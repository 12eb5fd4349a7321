import { delay } from "../delay.ts";
import { ChainError, type ChainErrorCode, isNodeFault, NODE_FAULTS, type NodeFaultCode } from "../errors.ts";
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

/** What happened to one node since the program started, and whether it is used now. */
export interface NodeStatus {
  /** The node's host, without the rest of its URL, which may contain a key. Two nodes may have the same host. */
  readonly host: string;
  /** HTTP requests that were sent to it; a batch counts as one. */
  readonly requests: number;
  /** Seconds from the requests to their responses or faults, all together. */
  readonly seconds: number;
  /** How often it was at fault, by code. Concurrent faults count one by one. */
  readonly faults: Readonly<Record<NodeFaultCode, number>>;
  /** Whether it is used after all others: it was at fault, or it is behind. */
  readonly paused: boolean;
  /** Whether the next request goes to it first. */
  readonly chosen: boolean;
  /**
   * Blocks by which it was behind the newest block of all nodes when they were last compared; undefined if it did not respond, or
   * was not compared.
   */
  readonly lag: number | undefined;
}

interface Member {
  readonly url: string;
  readonly node: RpcEndpoint;
  /** The time until which its chain id is not checked again, ms. */
  trustedUntil: number;
  /** Faults since it last worked for WELL_MS. */
  failures: number;
  /** Until this time it is used only after all others, ms. */
  pausedUntil: number;
  /** Whether it was behind another node when it was last compared. */
  behind: boolean;
  /** Blocks by which it was behind in the last comparison; undefined if it did not respond to it. */
  lag: number | undefined;
  readonly faults: Record<NodeFaultCode, number>;
}

/** Interval between checks of a node's chain id, because a URL may lead to another node later. */
const TRUST_MS = 60_000;
/** Pause before the first retry; doubled for each further one. */
const MIN_RETRY_MS = 250;
const MIN_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
/**
 * How long a node must work after a pause before its next pause is short again, ms. One answer is not enough: a node may
 * fail at some requests only, or answer while it is behind.
 */
const WELL_MS = 10_000;
/** The codes of faults, those first that are thrown if nodes had different ones. */
const FAULTS: readonly (readonly ChainErrorCode[])[] = [
  ["NODE_UNREACHABLE", "NODE_ERROR"],
  ["NODE_INCONSISTENT"],
  ["WRONG_CHAIN"],
];

const noFaults = () => Object.fromEntries(NODE_FAULTS.map((code) => [code, 0])) as Record<NodeFaultCode, number>;

/** Several nodes of one chain. If one is at fault, it fails over to the next. */
export class Failover {
  readonly chainId: bigint;
  readonly #limits: { timeoutMs: number; readonly maxResponseBytes: number; readonly clock: () => number };
  #members: readonly Member[] = [];
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
    this.chainId = chainId;
    this.#limits = { timeoutMs, maxResponseBytes, clock };
    this.#members = this.#membersOf(urls);
    this.#clock = clock;
    this.#log = log;
    this.#retries = retries;
  }

  /** Timeout of one request, ms. */
  get timeoutMs(): number {
    return this.#limits.timeoutMs;
  }

  /**
   * Uses these nodes from the next request on; running requests end with the nodes that they began with. A node that stays keeps
   * its faults and its pause.
   * @throws ChainError INVALID_OPTION; then nothing has changed
   */
  replace(urls: readonly string[], timeoutMs: number): void {
    this.#members = this.#membersOf(urls);
    this.#limits.timeoutMs = timeoutMs;
  }

  #membersOf(urls: readonly string[]): readonly Member[] {
    if (urls.length === 0)
      throw new ChainError("INVALID_OPTION", "urls is empty, expected the URL of at least one node");
    const known = [...this.#members];
    return urls.map((url) => {
      const index = known.findIndex((member) => member.url === url);
      // A URL that is named twice is two nodes.
      const [kept] = index < 0 ? [] : known.splice(index, 1);
      return kept ?? this.#member(url);
    });
  }

  #member(url: string): Member {
    return {
      url,
      node: new RpcEndpoint(url, this.#limits),
      trustedUntil: 0,
      failures: 0,
      pausedUntil: 0,
      behind: false,
      lag: undefined,
      faults: noFaults(),
    };
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
    // One node's answer is not final while another node, which may answer otherwise, could not be asked.
    throw FAULTS.map((codes) => faults.findLast(({ code }) => codes.includes(code))).find((fault) => fault);
  }

  /** Number of nodes. */
  get count(): number {
    return this.#members.length;
  }

  /** Runs `action` with every node at once, in the configured order. */
  all<T>(action: (node: RpcEndpoint) => Promise<T>): Map<RpcEndpoint, Promise<T>> {
    return new Map(this.#members.map((member) => [member.node, this.#run(member, action)]));
  }

  /**
   * Records how the nodes compare. A node that is behind is at fault, and used last, until a comparison finds that it is not.
   * @param lags blocks by which each node that responded is behind
   * @param fault creates the error of a node that is behind
   */
  compared(lags: ReadonlyMap<RpcEndpoint, number>, fault: (node: RpcEndpoint) => ChainError): void {
    for (const member of this.#members) {
      const lag = lags.get(member.node);
      member.lag = lag;
      // A node that did not respond stays behind if it was.
      if (lag === undefined) continue;
      member.behind = lag > 0;
      if (member.behind) this.#blame(member, fault(member.node));
    }
  }

  /** The nodes in the configured order. */
  get status(): readonly NodeStatus[] {
    const [first] = this.#order();
    return this.#members.map((member) => ({
      host: member.node.name,
      ...member.node.sent,
      faults: { ...member.faults },
      paused: this.#isPaused(member),
      chosen: member === first,
      lag: member.lag,
    }));
  }

  async #run<T>(member: Member, action: (node: RpcEndpoint) => Promise<T>): Promise<T> {
    try {
      await this.#assertChain(member);
      const answer = await action(member.node);
      if (!member.behind && this.#clock() >= member.pausedUntil + WELL_MS) member.failures = 0;
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

  #isPaused({ pausedUntil, behind }: Member): boolean {
    return behind || pausedUntil > this.#clock();
  }

  /** Checks the chain id after each fault too, because the URL may now lead to a node of another chain. */
  async #assertChain(member: Member): Promise<void> {
    if (member.trustedUntil > this.#clock()) return;
    const { node } = member;
    const found = await node.ask("eth_chainId", []);
    const chainId = typeof found === "string" && /^0x[0-9a-f]{1,64}$/i.test(found) ? BigInt(found) : undefined;
    if (chainId !== this.chainId) {
      const expected = `expected ${this.chainId}, 0x${this.chainId.toString(16)}`;
      const message =
        chainId === undefined
          ? `${node.name} returns a chain id that is not a hexadecimal quantity, ${expected}`
          : `${node.name} is on chain ${chainId}, ${expected}`;
      throw new ChainError("WRONG_CHAIN", message, { node: node.name });
    }
    member.trustedUntil = this.#clock() + TRUST_MS;
  }

  #blame(member: Member, { code, message }: ChainError): void {
    member.trustedUntil = 0;
    member.faults[code as NodeFaultCode] += 1;
    const now = this.#clock();
    // Concurrent requests fail together, which counts as one fault.
    if (member.pausedUntil > now) return;
    const pause = Math.min(MAX_PAUSE_MS, MIN_PAUSE_MS * 2 ** member.failures);
    member.failures += 1;
    member.pausedUntil = now + pause;
    this.#log?.warn({ node: member.node.name, code, pause }, message);
  }
}
