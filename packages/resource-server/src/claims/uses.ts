// Lets another payment format on the same route share the paywall's claims: a payment is accepted once, in either
// format.
import { randomUUID } from "node:crypto";
import type { PaymentClaim, PaymentUse, PaymentUses } from "@sotto/protocol";
import type { ClaimStore } from "./store.ts";

export interface UsesOptions {
  readonly store: ClaimStore;
  /** Claim id of a nullifier. */
  readonly idOf: (nullifier: string) => string;
  /** How long after its timestamp a payment is remembered, ms. */
  readonly rememberedMs: number;
  /** When a store in memory was opened, ms; undefined if the store is persistent. */
  readonly memoryStartedAt: number | undefined;
  readonly clock: () => number;
  readonly onError: (error: unknown) => void;
}

interface Held {
  readonly id: string;
  readonly holder: string;
  readonly expiresAt: number;
  readonly renewal: NodeJS.Timeout;
  /** served: consuming it has to be retried until it is stored. stored: the store has it as used. */
  state: "claimed" | "served" | "stored";
}

export class StoredUses implements PaymentUses {
  readonly #options: UsesOptions;
  readonly #held = new Map<string, Held>();

  constructor(options: UsesOptions) {
    this.#options = options;
  }

  async claim({ digest, nullifier, resource, timestamp }: PaymentUse): Promise<PaymentClaim> {
    const { store, idOf, rememberedMs, memoryStartedAt, clock } = this.#options;
    this.#dropExpired();
    // A payment dated in the future, used now, could be used again if the server restarted before that date.
    if (memoryStartedAt !== undefined && (timestamp < memoryStartedAt || timestamp > clock())) return "early";
    const [id, holder, expiresAt] = [idOf(nullifier), randomUUID(), timestamp + rememberedMs];
    const claimed = await store.claim({ id, digest, resource, expiresAt }, holder);
    if (claimed !== "claimed") return claimed === "held" ? "busy" : "used";
    this.#held.set(digest, { id, holder, expiresAt, renewal: this.#renew(digest), state: "claimed" });
    return "claimed";
  }

  release = (use: PaymentUse): Promise<void> =>
    this.#finish(use, ({ id, holder }) => this.#options.store.releaseUncounted(id, holder));

  reject = (use: PaymentUse): Promise<void> =>
    this.#finish(use, ({ id, holder }) => this.#options.store.reject(id, holder));

  /** Number of claims in memory, in addition to the store's rows. */
  get size(): number {
    return this.#held.size;
  }

  /** Keeps the holder in memory, because the handler may still fail. */
  async consume({ digest }: PaymentUse): Promise<void> {
    const held = this.#held.get(digest);
    if (held === undefined) return;
    held.state = "served";
    await this.#consume(held);
  }

  restore = (use: PaymentUse): Promise<void> =>
    this.#finish(use, ({ id, holder }) => this.#options.store.restore(id, holder));

  close(): void {
    for (const { renewal } of this.#held.values()) clearInterval(renewal);
    this.#held.clear();
  }

  async #finish({ digest }: PaymentUse, finish: (held: Held) => Promise<void>): Promise<void> {
    const held = this.#held.get(digest);
    if (held === undefined) return;
    clearInterval(held.renewal);
    await finish(held);
    this.#held.delete(digest);
  }

  /**
   * If the store is unavailable, the payment stays held and the next renewal retries, so that no other request acquires
   * it.
   */
  async #consume(held: Held): Promise<void> {
    await this.#options.store.consume(held.id);
    clearInterval(held.renewal);
    held.state = "stored";
  }

  /** Renews the lease while the payment settles and the handler runs. */
  #renew(digest: string): NodeJS.Timeout {
    const { store, onError } = this.#options;
    const renew = async () => {
      const held = this.#held.get(digest);
      if (held?.state === "served") await this.#consume(held);
      else if (held !== undefined) await store.renew(held.id, held.holder);
    };
    return setInterval(() => void renew().catch(onError), store.leaseMs / 3).unref();
  }

  /** Stored claims expire with their header; others are kept as long as the store keeps their row. */
  #dropExpired(): void {
    const { clock, store } = this.#options;
    const now = clock();
    for (const [digest, { expiresAt, renewal, state }] of this.#held)
      if (expiresAt + (state === "stored" ? 0 : store.retentionMs) <= now) {
        clearInterval(renewal);
        this.#held.delete(digest);
      }
  }
}
