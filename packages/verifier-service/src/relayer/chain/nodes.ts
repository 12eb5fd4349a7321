import { CallReverted, RelayerError } from "../errors.ts";
import type { RelayerLog } from "../types.ts";
import { RpcAnswer, type RpcNode, rpcNode } from "./rpc.ts";

export interface NodesOptions {
  /** JSON-RPC addresses, the preferred one first. */
  urls: readonly string[];
  chainId: bigint;
  /** ms for one question, 10 s if left out. */
  timeout?: number;
  log?: RelayerLog;
  clock?: () => number;
}

interface Member {
  node: RpcNode;
  /** Until when the answer to which chain it is on holds, ms. */
  trustedUntil: number;
  failures: number;
  /** Not asked before, unless all others fail too. */
  retryAt: number;
}

/** A node's own fault: another one may do better. Reverts and refused transactions are answers. */
export function isNodeFault(error: unknown): boolean {
  if (error instanceof CallReverted) return false;
  if (error instanceof RpcAnswer)
    return /rate|limit|too many|capacity|timeout|header not found|missing trie/i.test(error.text);
  const faults = ["NODE_UNREACHABLE", "NODE_ERROR", "NODE_INCONSISTENT", "WRONG_CHAIN"];
  return error instanceof RelayerError && faults.includes(error.code);
}

/** An address may lead to another node tomorrow. */
const TRUST_MS = 60_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** Several nodes of one chain: what one cannot answer, the next is asked. */
export class Nodes {
  readonly chainId: bigint;
  readonly #members: Member[];
  readonly #clock: () => number;
  readonly #log: RelayerLog | undefined;

  constructor({ urls, chainId, timeout = 10_000, log, clock = Date.now }: NodesOptions) {
    if (urls.length === 0) throw new RelayerError("INVALID_RELAYER_OPTION", "at least one node's address is needed");
    this.chainId = chainId;
    this.#members = urls.map((url) => ({ node: rpcNode(url, timeout), trustedUntil: 0, failures: 0, retryAt: 0 }));
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * Runs `action` with one node; where that is at fault, again with the next. Several questions in one action are thus
   * answered by one node.
   * @throws the last node's error where all are at fault
   */
  async use<T>(action: (node: RpcNode) => Promise<T>): Promise<T> {
    let last: unknown;
    for (const member of this.#order()) {
      try {
        await this.#trust(member);
        const result = await action(member.node);
        member.failures = 0;
        return result;
      } catch (error) {
        if (!isNodeFault(error)) throw error;
        this.#blame(member, error);
        last = error;
      }
    }
    throw last;
  }

  ask(method: string, params: readonly unknown[]): Promise<unknown> {
    return this.use((node) => node.ask(method, params));
  }

  /** Asks all nodes at once and waits for each. */
  async askAll(method: string, params: readonly unknown[]): Promise<PromiseSettledResult<unknown>[]> {
    return Promise.allSettled(
      this.#members.map(async (member) => {
        try {
          await this.#trust(member);
          return await member.node.ask(method, params);
        } catch (error) {
          if (isNodeFault(error)) this.#blame(member, error);
          throw error;
        }
      }),
    );
  }

  /** Those that are believed to work first, in the order they were given. */
  #order(): Member[] {
    const now = this.#clock();
    const paused = ({ retryAt }: Member) => (retryAt > now ? 1 : 0);
    return [...this.#members].sort((a, b) => paused(a) - paused(b));
  }

  /** A node that was away may come back as another one, of another chain. */
  async #trust(member: Member): Promise<void> {
    if (member.trustedUntil > this.#clock()) return;
    const found = await member.node.ask("eth_chainId", []);
    const right = typeof found === "string" && /^0x[0-9a-f]+$/i.test(found) && BigInt(found) === this.chainId;
    if (!right) {
      const message = `${member.node.name} is on chain ${String(found).slice(0, 20)}, expected ${this.chainId}`;
      throw new RelayerError("WRONG_CHAIN", message, { node: member.node.name });
    }
    member.trustedUntil = this.#clock() + TRUST_MS;
  }

  #blame(member: Member, error: unknown): void {
    member.trustedUntil = 0;
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** member.failures);
    member.failures += 1;
    member.retryAt = this.#clock() + pause;
    const { code, message } = error as RelayerError;
    this.#log?.warn({ node: member.node.name, code, pause }, message);
  }
}
