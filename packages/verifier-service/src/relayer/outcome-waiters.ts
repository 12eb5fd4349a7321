import { isUnavailable, type Operation, type Store } from "../store/index.ts";
import { RelayerError } from "./errors.ts";
import { outcomeOf } from "./outcome.ts";
import type { Outcome } from "./types.ts";
import { WakeSignal } from "./wake-signal.ts";

/** Poll interval of a replica that does not lead, ms. */
const STORE_POLL_MS = 100;
/** Leader poll interval, ms; its own rounds usually notify first. */
const OWN_POLL_MS = 2_000;
/** Requests for the same operation within this time share one read, ms. */
const SHARED_MS = 50;

export interface OutcomeWaitersOptions {
  readonly store: Pick<Store, "operations">;
  /** Whether this replica leads. */
  readonly works: () => boolean;
  readonly stopping: () => boolean;
  /** Measures the wait, ms: if the machine's clock is set back, the wait must not become longer. */
  readonly monotonic: () => number;
}

/**
 * Requests that wait for outcomes. Any number of requests may wait for the same operation; together they cause one read of the
 * store.
 */
export class OutcomeWaiters {
  readonly #options: OutcomeWaitersOptions;
  readonly #changed = new WakeSignal();
  readonly #sharedReads = new Map<string, Promise<Operation | undefined>>();
  #notifications = 0;

  constructor(options: OutcomeWaitersOptions) {
    this.#options = options;
  }

  /** Wakes all waiters, because outcomes may have changed. */
  notify(): void {
    this.#notifications += 1;
    this.#sharedReads.clear();
    this.#changed.wake();
  }

  /**
   * @param signal aborted when the client disconnects; ends the wait within a poll interval
   * @throws RelayerError UNKNOWN_OPERATION
   */
  async waitFor(id: string, ms: number, signal?: AbortSignal): Promise<Outcome> {
    const { works, stopping, monotonic } = this.#options;
    const end = monotonic() + ms;
    for (;;) {
      const seen = this.#notifications;
      const left = signal?.aborted ? 0 : end - monotonic();
      const outcome = await this.#outcome(id, left > 0);
      if (outcome && (outcome.state !== "pending" || left <= 0 || stopping())) return outcome;
      // A read that began before the last notification may be outdated.
      if (seen !== this.#notifications) continue;
      await this.#changed.sleep(Math.min(left, works() ? OWN_POLL_MS : STORE_POLL_MS));
    }
  }

  /** @param patient whether to retry if the store is unavailable */
  async #outcome(id: string, patient: boolean): Promise<Outcome | undefined> {
    try {
      const operation = await this.#read(id);
      if (operation === undefined)
        throw new RelayerError("UNKNOWN_OPERATION", "no payment, deposit or withdrawal has this id");
      return outcomeOf(operation);
    } catch (error) {
      if (patient && !this.#options.stopping() && isUnavailable(error)) return undefined;
      throw error;
    }
  }

  #read(id: string): Promise<Operation | undefined> {
    const known = this.#sharedReads.get(id);
    if (known !== undefined) return known;
    const read = this.#options.store.operations.get(id);
    this.#sharedReads.set(id, read);
    const forget = () => void (this.#sharedReads.get(id) === read && this.#sharedReads.delete(id));
    read.then(() => setTimeout(forget, SHARED_MS).unref(), forget);
    return read;
  }
}
