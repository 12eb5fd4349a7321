import { randomUUID } from "node:crypto";
import { CheckFailed, CheckUnavailable } from "../outcome.ts";
import type { Claimed, ClaimRequest, ClaimStore } from "./store.ts";

/** Times that a used payment is tried to be stored as used. */
const STORE_TRIES = 10;
const STORE_PAUSE_MS = 1_000;

/** A payment taken for one handler. */
export interface Claim {
  /** Once: 500 up and "aborted" give it back. Never rejects. */
  finish(outcome: number | "aborted"): Promise<void>;
}

/** Claims and their leases. */
export class Claims {
  readonly #store: ClaimStore;
  readonly #onError: (error: unknown) => void;
  readonly #renewals = new Set<NodeJS.Timeout>();
  readonly #clock: () => number;
  #closed = false;

  constructor(store: ClaimStore, clock: () => number, onError: (error: unknown) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#onError = onError;
  }

  /**
   * Tells early that a payment is used, before it costs anything. Only `take` decides.
   *
   * @throws CheckFailed USED; CheckUnavailable
   */
  async assertUnused(id: string): Promise<void> {
    if (await this.#asked(this.#store.isUsed(id))) throw new CheckFailed("USED");
  }

  /** @throws CheckFailed USED, IN_USE; CheckUnavailable */
  async take(request: ClaimRequest): Promise<Claim> {
    const holder = randomUUID();
    const claimed = await this.#asked(this.#store.claim(request, holder));
    if (claimed === "used") throw new CheckFailed("USED");
    // The handler may fail long before its lease ends.
    if (claimed === "held") throw new CheckFailed("IN_USE", 2);
    const renewal = this.#renew(request, holder);
    let finished = false;
    return {
      finish: async (outcome) => {
        if (finished) return;
        finished = true;
        const release = outcome === "aborted" || outcome >= 500;
        const stored = await (release ? this.#release(request.id, holder) : this.#consume(request.id));
        // Nobody waits for an answer because a store is away; the payment is held meanwhile.
        if (!stored) void this.#insist(request.id).finally(() => this.#stop(renewal));
        else this.#stop(renewal);
      },
    };
  }

  /** A handler may take its time; once the header is too old, nobody else could use the payment anyway. */
  #renew({ id, expiresAt }: ClaimRequest, holder: string): NodeJS.Timeout {
    const renewal = setInterval(() => {
      if (this.#clock() >= expiresAt) this.#stop(renewal);
      else
        this.#store.renew(id, holder).then(
          (held) => {
            if (!held) this.#stop(renewal);
          },
          (error: unknown) => {
            // One that was under way when the store was closed is no trouble.
            if (!this.#closed) this.#onError(error);
          },
        );
    }, this.#store.leaseMs / 3).unref();
    this.#renewals.add(renewal);
    return renewal;
  }

  #stop(renewal: NodeJS.Timeout): void {
    clearInterval(renewal);
    this.#renewals.delete(renewal);
  }

  /** True, because what fails here ends with the lease. */
  async #release(id: string, holder: string): Promise<true> {
    await this.#store.release(id, holder).catch(this.#onError);
    return true;
  }

  async #consume(id: string): Promise<boolean> {
    try {
      await this.#store.consume(id);
      return true;
    } catch (error) {
      this.#onError(error);
      return false;
    }
  }

  async #insist(id: string): Promise<void> {
    for (let tries = 1; tries < STORE_TRIES; tries++) {
      await new Promise((resolve) => setTimeout(resolve, STORE_PAUSE_MS).unref());
      if (await this.#consume(id)) return;
    }
  }

  async #asked<T extends boolean | Claimed>(question: Promise<T>): Promise<T> {
    try {
      return await question;
    } catch (cause) {
      throw new CheckUnavailable("STORE_UNAVAILABLE", 5, cause);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const renewal of this.#renewals) clearInterval(renewal);
    await this.#store.close();
  }
}
