// The claims of a paywall for another dialect on the same route: a payment that one has taken the other does not take.
import { randomUUID } from "node:crypto";
import type { PaymentClaim, PaymentUse, PaymentUses } from "@sotto/protocol";
import type { ClaimStore } from "./store.ts";

export interface UsesOptions {
  readonly store: ClaimStore;
  /** Of a nullifier. */
  readonly idOf: (nullifier: string) => string;
  /** ms a payment is remembered behind its timestamp. */
  readonly remembered: number;
  /** The store began with this process: ms. */
  readonly forgetfulSince: number | undefined;
  readonly clock: () => number;
  readonly onError: (error: unknown) => void;
}

interface Held {
  readonly id: string;
  readonly holder: string;
  readonly expiresAt: number;
  readonly renewal: NodeJS.Timeout;
  /** served: that has to be stored, however often it takes. stored: it is. */
  state: "claimed" | "served" | "stored";
}

export class StoredUses implements PaymentUses {
  readonly #options: UsesOptions;
  readonly #held = new Map<string, Held>();

  constructor(options: UsesOptions) {
    this.#options = options;
  }

  async claim({ digest, nullifier, resource, timestamp }: PaymentUse): Promise<PaymentClaim> {
    const { store, idOf, remembered, forgetfulSince, clock } = this.#options;
    this.#drop();
    // What is from the future could be used again after a restart that comes before its time.
    if (forgetfulSince !== undefined && (timestamp < forgetfulSince || timestamp > clock())) return "early";
    const [id, holder, expiresAt] = [idOf(nullifier), randomUUID(), timestamp + remembered];
    const claimed = await store.claim({ id, digest, resource, expiresAt }, holder);
    if (claimed !== "claimed") return claimed === "held" ? "busy" : "used";
    this.#held.set(digest, { id, holder, expiresAt, renewal: this.#renew(digest), state: "claimed" });
    return "claimed";
  }

  release = (use: PaymentUse): Promise<void> =>
    this.#end(use, ({ id, holder }) => this.#options.store.putBack(id, holder));

  reject = (use: PaymentUse): Promise<void> =>
    this.#end(use, ({ id, holder }) => this.#options.store.forget(id, holder));

  /** How many are remembered here, beside the store. */
  get size(): number {
    return this.#held.size;
  }

  /** Who holds it is kept: its handler may yet fail. */
  async consume({ digest }: PaymentUse): Promise<void> {
    const held = this.#held.get(digest);
    if (held === undefined) return;
    held.state = "served";
    await this.#consume(held);
  }

  restore = (use: PaymentUse): Promise<void> =>
    this.#end(use, ({ id, holder }) => this.#options.store.reopen(id, holder));

  close(): void {
    for (const { renewal } of this.#held.values()) clearInterval(renewal);
    this.#held.clear();
  }

  async #end({ digest }: PaymentUse, end: (held: Held) => Promise<void>): Promise<void> {
    const held = this.#held.get(digest);
    if (held === undefined) return;
    clearInterval(held.renewal);
    await end(held);
    this.#held.delete(digest);
  }

  /** Where the store is away, the payment stays held, and is stored as used later: nobody else gets it in between. */
  async #consume(held: Held): Promise<void> {
    await this.#options.store.consume(held.id);
    clearInterval(held.renewal);
    held.state = "stored";
  }

  /** A settlement takes its time. */
  #renew(digest: string): NodeJS.Timeout {
    const { store, onError } = this.#options;
    const keep = async () => {
      const held = this.#held.get(digest);
      if (held?.state === "served") await this.#consume(held);
      else if (held !== undefined) await store.renew(held.id, held.holder);
    };
    return setInterval(() => void keep().catch(onError), store.leaseMs / 3).unref();
  }

  /** What the store knows is kept while its handler may fail; what it does not, as long as the store keeps its row. */
  #drop(): void {
    const { clock, store } = this.#options;
    const now = clock();
    for (const [digest, { expiresAt, renewal, state }] of this.#held)
      if (expiresAt + (state === "stored" ? 0 : store.keptMs) <= now) {
        clearInterval(renewal);
        this.#held.delete(digest);
      }
  }
}
