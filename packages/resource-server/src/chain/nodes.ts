import { PaywallError } from "../errors.ts";
import { Node } from "./node.ts";

interface Member {
  readonly node: Node;
  /** Until when the answer to which chain it is on holds, ms. */
  trustedUntil: number;
  /** Not asked before others until then, ms. */
  pausedUntil: number;
}

/** An address may lead to another node tomorrow. */
const TRUST_MS = 60_000;
const PAUSE_MS = 5_000;

/** The nodes of one chain, the preferred one first. */
export class Nodes {
  readonly #chainId: bigint;
  readonly #members: readonly Member[];
  readonly #clock: () => number;

  /** @param timeout ms for one question */
  constructor(urls: readonly string[], chainId: bigint, timeout: number, clock: () => number) {
    this.#chainId = chainId;
    this.#members = urls.map((url) => ({ node: new Node(url, timeout), trustedUntil: 0, pausedUntil: 0 }));
    this.#clock = clock;
  }

  /**
   * Asks one node after the other until `enough` is satisfied with an answer.
   *
   * @returns the last answer
   * @throws PaywallError CHAIN_UNAVAILABLE where one of them did not answer and no answer was enough; WRONG_CHAIN where
   * all of them are on another chain
   */
  async ask<T>(question: (node: Node) => Promise<T>, enough: (answer: T) => boolean = () => true): Promise<T> {
    const now = this.#clock();
    const paused = ({ pausedUntil }: Member) => (pausedUntil > now ? 1 : 0);
    const members = [...this.#members].sort((a, b) => paused(a) - paused(b));
    let last: { answer: T } | undefined;
    const failures: unknown[] = [];
    for (const member of members) {
      try {
        await this.#trust(member);
        last = { answer: await question(member.node) };
        if (enough(last.answer)) return last.answer;
      } catch (error) {
        member.trustedUntil = 0;
        member.pausedUntil = this.#clock() + PAUSE_MS;
        failures.push(error);
      }
    }
    if (last !== undefined && failures.length === 0) return last.answer;
    const wrong = failures.every((error) => error instanceof PaywallError);
    if (wrong && failures.length === members.length) throw failures[0];
    const asked = members.map(({ node }) => node.name).join(", ");
    throw new PaywallError(
      "CHAIN_UNAVAILABLE",
      `not all of the nodes needed answer: ${asked}`,
      {},
      { cause: failures },
    );
  }

  /** A node that was away may come back as another one, of another chain. */
  async #trust(member: Member): Promise<void> {
    if (member.trustedUntil > this.#clock()) return;
    const found = await member.node.chainId();
    if (BigInt(found) !== this.#chainId) {
      const { name } = member.node;
      throw new PaywallError("WRONG_CHAIN", `${name} is on chain ${found}, expected ${this.#chainId}`, { node: name });
    }
    member.trustedUntil = this.#clock() + TRUST_MS;
  }
}
