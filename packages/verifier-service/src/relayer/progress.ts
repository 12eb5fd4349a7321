import type { Store } from "../store/index.ts";

/** The code of a round that hangs. */
export const STALLED = "ROUND_STALLED";

/**
 * Measures how long the running round has written nothing. The duration of a round shows nothing: the first one reads the whole
 * chain, and stores it page by page.
 */
export class Progress {
  readonly #monotonic: () => number;
  /** When the running round began or last wrote, ms; undefined between rounds. */
  #since: number | undefined;

  /** @param monotonic measures durations, ms */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Ms without a write; 0 between rounds. */
  get silence(): number {
    return this.#since === undefined ? 0 : this.#monotonic() - this.#since;
  }

  /** Runs a round. */
  async of<T>(round: () => Promise<T>): Promise<T> {
    this.#since = this.#monotonic();
    try {
      return await round();
    } finally {
      this.#since = undefined;
    }
  }

  /** The same store, whose writes are the round's progress. */
  watch(store: Store): Store {
    return {
      ...store,
      asRelayer: async (lease, action) => {
        const result = await store.asRelayer(lease, action);
        if (this.#since !== undefined) this.#since = this.#monotonic();
        return result;
      },
    };
  }
}
