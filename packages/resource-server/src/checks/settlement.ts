// Asks the chain whether the pool settled a payment. This check relies neither on the root in the proof, which may be
// made up, nor on the service, which may lie.
import { setTimeout as pause } from "node:timers/promises";
import { type Chain, type ChainNode, poolViews, showsSettled } from "@sotto/chain";
import type { Address, Bytes32 } from "@sotto/protocol";
import { CheckFailed, CheckUnavailable } from "../outcome.ts";
import { Gate } from "./gate.ts";

/** What is needed to look up a payment on the chain. */
export interface Payment {
  readonly nullifier: bigint;
  readonly digest: Bytes32;
  /** The transaction that settled it, according to the payer. */
  readonly txSignature: Bytes32;
  /** The pool refuses to settle it after this time, Unix seconds. */
  readonly validUntil: bigint;
}

export interface SettlementOptions {
  readonly chain: Chain;
  readonly pool: Address;
  /** Required blocks, including the payment's own. */
  readonly confirmations: number;
  /** Time between blocks, ms. */
  readonly blockTimeMs: number;
  /** Maximum wait for a payment that the chain does not show yet, ms. */
  readonly waitMs: number;
  readonly clock: () => number;
}

const POLL_MS = 250;
/** Maximum number of concurrent lookups; each makes a few requests to a node. */
const MAX_LOOKUPS = 64;
const MAX_QUEUED_LOOKUPS = 256;
/** Maximum number of payments awaited at the same time; any other missing payment fails at its first lookup. */
const MAX_AWAITED = 64;

type Found = "named" | "elsewhere" | "missing";

export interface Settlement {
  /** Whether the transaction that the payer named settled the payment. */
  readonly settledThere: boolean;
}

export class Settlements {
  readonly #options: SettlementOptions;
  readonly #gate = new Gate(MAX_LOOKUPS, MAX_QUEUED_LOOKUPS);
  readonly #looking = new Map<Bytes32, Promise<Settlement>>();
  #awaited = 0;

  constructor(options: SettlementOptions) {
    this.#options = options;
  }

  /**
   * Looks a payment up, and waits up to `waitMs` for it to appear.
   * @throws CheckFailed NOT_SETTLED, with `retryAfter` as long as the payment may still be settled; CheckUnavailable
   */
  async find(payment: Payment): Promise<Settlement> {
    const { digest } = payment;
    const before = this.#looking.get(digest);
    // Only one request waits for a payment, however often its header is sent: a missing payment must not block others.
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
    if (found === "missing" && this.#awaited < MAX_AWAITED) {
      this.#awaited += 1;
      try {
        while (found === "missing" && clock() < end) {
          await pause(Math.min(POLL_MS, Math.max(0, end - clock())));
          found = await this.#ask(payment);
        }
      } finally {
        this.#awaited -= 1;
      }
    }
    if (found === "missing") throw new CheckFailed("NOT_SETTLED", this.#retryAfter(payment));
    return { settledThere: found === "named" };
  }

  /**
   * Asks every node before it reports a payment as missing, because a node may lag behind the service's node. Only
   * these requests occupy the gate, not the waits between them: payments that never settled must not block those that
   * did.
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
    // A reverted transaction has no logs.
    if (
      receipt !== undefined &&
      receipt.blockNumber <= confirmed &&
      showsSettled(receipt.logs, pool, nullifier, digest)
    )
      return "named";
    // Anyone may settle a payment, in any transaction; the digest identifies it.
    if (confirmed < 0) return "missing";
    return (await poolViews(node, pool).spentBy(nullifier, confirmed)) === digest ? "elsewhere" : "missing";
  }

  /** Seconds; undefined once no future block can settle it. */
  #retryAfter({ validUntil }: Payment): number | undefined {
    const { confirmations, blockTimeMs, clock } = this.#options;
    const last = Number(validUntil) * 1000 + (confirmations + 1) * blockTimeMs;
    return clock() > last ? undefined : Math.max(1, Math.ceil(blockTimeMs / 1000));
  }
}
