// Limits how often the same stored answer is sent, without a write for it.

/** Answers to one question, and for how long they count, ms. */
const [MAX_REPEATS, WINDOW_MS] = [8, 60_000];
/** Questions that are remembered; beyond it, the oldest is forgotten. */
const MAX_REMEMBERED = 10_000;

export class Repeats {
  readonly #clock: () => number;
  readonly #seen = new Map<string, { count: number; readonly until: number }>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Counts a repeated answer. @returns the seconds to wait if there were too many */
  count(id: string): number | undefined {
    const now = this.#clock();
    const before = this.#seen.get(id);
    if (before === undefined || before.until <= now) {
      this.#seen.delete(id);
      this.#seen.set(id, { count: 1, until: now + WINDOW_MS });
      if (this.#seen.size > MAX_REMEMBERED) this.#seen.delete(this.#seen.keys().next().value!);
      return undefined;
    }
    before.count += 1;
    return before.count > MAX_REPEATS ? Math.ceil((before.until - now) / 1_000) : undefined;
  }
}
