import { isUnavailable, type Operation, type Store } from "../store/index.ts";
import { RelayerError } from "./errors.ts";
import { outcomeOf } from "./outcome.ts";
import type { Outcome } from "./types.ts";
import { WakeSignal } from "./wake-signal.ts";

/** How often a replica that stands by looks at the store, ms. */
const STORE_POLL_MS = 100;
/** Leader poll interval, ms; its own rounds usually notify first. */
const OWN_POLL_MS = 2_000;
/** Who asks for the same within this time shares an answer, ms. */
const SHARED_MS = 50;

export interface OutcomeWaitersOptions {
  readonly store: Pick<Store, "operations">;
  /** Whether this replica is the one that works. */
  readonly works: () => boolean;
  readonly stopping: () => boolean;
  /** ms */
  readonly clock: () => number;
}

/**
 * Those who wait for what becomes of operations. One may be asked for any number of times at once, by whoever has its
 * token: what that costs does not grow with them.
 */
export class OutcomeWaiters {
  readonly #options: OutcomeWaitersOptions;
  readonly #changed = new WakeSignal();
  readonly #looks = new Map<string, Promise<Operation | undefined>>();
  #told = 0;

  constructor(options: OutcomeWaitersOptions) {
    this.#options = options;
  }

  /** Something may have changed. */
  tell(): void {
    this.#told += 1;
    this.#looks.clear();
    this.#changed.wake();
  }

  /**
   * @param signal ends the wait within a poll interval: the client has disconnected
   * @throws RelayerError UNKNOWN_OPERATION
   */
  async waitFor(id: string, ms: number, signal?: AbortSignal): Promise<Outcome> {
    const { works, stopping, clock } = this.#options;
    const end = clock() + ms;
    for (;;) {
      const told = this.#told;
      const left = signal?.aborted ? 0 : end - clock();
      const outcome = await this.#outcome(id, left > 0);
      if (outcome && (outcome.state !== "pending" || left <= 0 || stopping())) return outcome;
      // A look that began before the last word may be older than what it told.
      if (told !== this.#told) continue;
      await this.#changed.sleep(Math.min(left, works() ? OWN_POLL_MS : STORE_POLL_MS));
    }
  }

  /** @param patient whether a store that does not answer may be asked again */
  async #outcome(id: string, patient: boolean): Promise<Outcome | undefined> {
    try {
      const operation = await this.#look(id);
      if (operation === undefined) throw new RelayerError("UNKNOWN_OPERATION", "there is no payment with this id");
      return outcomeOf(operation);
    } catch (error) {
      if (patient && !this.#options.stopping() && isUnavailable(error)) return undefined;
      throw error;
    }
  }

  #look(id: string): Promise<Operation | undefined> {
    const known = this.#looks.get(id);
    if (known !== undefined) return known;
    const look = this.#options.store.operations.get(id);
    this.#looks.set(id, look);
    const forget = () => void (this.#looks.get(id) === look && this.#looks.delete(id));
    look.then(() => setTimeout(forget, SHARED_MS).unref(), forget);
    return look;
  }
}
