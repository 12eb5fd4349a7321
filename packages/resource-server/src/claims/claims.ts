import { randomUUID } from "node:crypto";
import { CheckFailed, CheckUnavailable } from "../outcome.ts";
import type { Claimed, ClaimRequest, ClaimStore } from "./store.ts";

/** Maximum attempts to store a payment as used. */
const MAX_CONSUME_ATTEMPTS = 10;
const CONSUME_PAUSE_MS = 1_000;

/** The exclusive right to process a payment. */
export interface Claim {
  /**
   * A status of 500 or above, "aborted" or "unstarted" releases the payment; any other consumes it. Only the first call
   * counts. Never rejects.
   */
  finish(outcome: number | "aborted" | "unstarted"): Promise<void>;
}

/** Acquires claims and renews their leases. */
export class PaymentClaims {
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
   * Rejects a used payment before the expensive checks. Only `acquire` is authoritative.
   * @throws CheckFailed USED; CheckUnavailable
   */
  async assertUnused(id: string): Promise<void> {
    if (await this.#query(this.#store.isUsed(id))) throw new CheckFailed("USED");
  }

  /** @throws CheckFailed USED, IN_USE; CheckUnavailable */
  async acquire(request: ClaimRequest): Promise<Claim> {
    const holder = randomUUID();
    const claimed = await this.#query(this.#store.claim(request, holder));
    if (claimed === "used") throw new CheckFailed("USED");
    // Retry soon: the other handler may fail long before its lease expires.
    if (claimed === "held") throw new CheckFailed("IN_USE", 2);
    const renewal = this.#renew(request, holder);
    let finished = false;
    return {
      finish: async (outcome) => {
        if (finished) return;
        finished = true;
        const release = typeof outcome === "string" || outcome >= 500;
        const stored = await (release ? this.#release(request.id, holder) : this.#consume(request.id));
        // The response does not wait for an unavailable store; the claim stays held until the retries end.
        if (!stored) void this.#retryConsume(request.id).finally(() => this.#stop(renewal));
        else this.#stop(renewal);
      },
    };
  }

  /** Renews the lease while the handler runs, until the header is too old to be accepted elsewhere. */
  #renew({ id, expiresAt }: ClaimRequest, holder: string): NodeJS.Timeout {
    const renewal = setInterval(() => {
      if (this.#clock() >= expiresAt) this.#stop(renewal);
      else
        this.#store.renew(id, holder).then(
          (held) => {
            if (!held) this.#stop(renewal);
          },
          (error: unknown) => {
            // A renewal that was in flight when the store was closed may fail.
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

  /** Always true: if the store fails, the lease expires anyway. */
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

  async #retryConsume(id: string): Promise<void> {
    for (let attempts = 1; attempts < MAX_CONSUME_ATTEMPTS; attempts++) {
      await new Promise((resolve) => setTimeout(resolve, CONSUME_PAUSE_MS).unref());
      if (await this.#consume(id)) return;
    }
  }

  async #query<T extends boolean | Claimed>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
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
