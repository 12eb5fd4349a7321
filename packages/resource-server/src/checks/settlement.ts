// Settled is what the pool says it settled. The root of a proof may be invented and the service may lie: this check
// rests on neither.
import { setTimeout as pause } from "node:timers/promises";
import { type Chain, type ChainNode, poolViews, showsSettled } from "@sotto/chain";
import type { Address, Bytes32 } from "@sotto/protocol";
import { CheckFailed, CheckUnavailable } from "../outcome.ts";
import { Gate } from "./gate.ts";

/** A payment as the chain knows it. */
export interface Payment {
  readonly nullifier: bigint;
  readonly digest: Bytes32;
  /** Where its payer says that it was settled. */
  readonly txSignature: Bytes32;
  /** Last second in which the pool settles it. */
  readonly validUntil: bigint;
}

export interface SettlementOptions {
  readonly chain: Chain;
  readonly pool: Address;
  /** Blocks, the payment's own included. */
  readonly confirmations: number;
  /** The chain's time between blocks. */
  readonly blockTimeMs: number;
  /** How long to wait for a payment that is not there yet. */
  readonly waitMs: number;
  readonly clock: () => number;
}

const POLL_MS = 250;
/** Looks at once: each is a few questions to a node. */
const AT_ONCE = 64;
const WAITING = 256;
/** Payments that are waited for at once. Beyond them one that is not there is told so at its first look. */
const WAITED_FOR = 64;

type Found = "named" | "elsewhere" | "missing";

/** Found, and whether where its payer said. */
export interface Settlement {
  readonly settledThere: boolean;
}

export class Settlements {
  readonly #options: SettlementOptions;
  readonly #gate = new Gate(AT_ONCE, WAITING);
  readonly #looking = new Map<Bytes32, Promise<Settlement>>();
  #waitedFor = 0;

  constructor(options: SettlementOptions) {
    this.#options = options;
  }

  /**
   * @returns whether it was settled in the transaction that was named; otherwise somebody else settled it first
   * @throws CheckFailed NOT_SETTLED, to be tried again as long as it may still be settled; CheckUnavailable
   */
  async find(payment: Payment): Promise<Settlement> {
    const { digest } = payment;
    const before = this.#looking.get(digest);
    // One payment takes one place, however often it is shown: others must not wait behind one that is not there.
    if (before !== undefined) {
      await before;
      return this.#look(payment, 0);
    }
    const looking = this.#look(payment, this.#options.waitMs).finally(() => this.#looking.delete(digest));
    this.#looking.set(digest, looking);
    return looking;
  }

  async #look(payment: Payment, waitMs: number): Promise<Settlement> {
    const { clock } = this.#options;
    const end = clock() + waitMs;
    let found = await this.#ask(payment);
    if (found === "missing" && this.#waitedFor < WAITED_FOR) {
      this.#waitedFor += 1;
      try {
        while (found === "missing" && clock() < end) {
          await pause(Math.min(POLL_MS, Math.max(0, end - clock())));
          found = await this.#ask(payment);
        }
      } finally {
        this.#waitedFor -= 1;
      }
    }
    if (found === "missing") throw new CheckFailed("NOT_SETTLED", this.#retryAfter(payment));
    return { settledThere: found === "named" };
  }

  /**
   * Every node is asked before a payment is taken for missing: one may be some blocks behind the service's. Only this
   * takes a place, no wait does: payments that were never settled must not keep out those that were.
   */
  #ask(payment: Payment): Promise<Found> {
    return this.#gate.run(async () => {
      try {
        return await this.#options.chain.useNode(
          (node) => this.#lookAt(node, payment),
          (found) => found !== "missing",
        );
      } catch (cause) {
        throw new CheckUnavailable("CHAIN_UNAVAILABLE", 5, cause);
      }
    });
  }

  async #lookAt(node: ChainNode, { nullifier, digest, txSignature }: Payment): Promise<Found> {
    const { pool, confirmations } = this.#options;
    const [head, receipt] = await Promise.all([node.height(), node.receipt(txSignature)]);
    const confirmed = head - confirmations + 1;
    // A transaction that failed has no logs.
    if (
      receipt !== undefined &&
      receipt.blockNumber <= confirmed &&
      showsSettled(receipt.logs, pool, nullifier, digest)
    )
      return "named";
    // Anyone may settle a payment: what counts is that it is this one, not in which transaction.
    if (confirmed < 0) return "missing";
    return (await poolViews(node, pool).spentBy(nullifier, confirmed)) === digest ? "elsewhere" : "missing";
  }

  /** Seconds; undefined once no block to come can have settled it. */
  #retryAfter({ validUntil }: Payment): number | undefined {
    const { confirmations, blockTimeMs, clock } = this.#options;
    const last = Number(validUntil) * 1000 + (confirmations + 1) * blockTimeMs;
    return clock() > last ? undefined : Math.max(1, Math.ceil(blockTimeMs / 1000));
  }
}
