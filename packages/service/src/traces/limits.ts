const MINUTE_MS = 60_000;

/** accepted: a payment whose proofs are valid, which costs its client a quota. other: all other requests. */
export type Traced = "accepted" | "other";

/** Limits the requests that are traced in a minute, so that a flood fills neither the queue nor the collector. */
export class TraceLimits {
  readonly #perMinute: number;
  readonly #clock: () => number;
  #minute = Number.NaN;
  #taken: Record<Traced, number> = { accepted: 0, other: 0 };

  /** @param clock now, ms */
  constructor(perMinute: number, clock: () => number) {
    this.#perMinute = perMinute;
    this.#clock = clock;
  }

  /** Counts a request. @returns whether it is traced */
  take(kind: Traced): boolean {
    const minute = Math.floor(this.#clock() / MINUTE_MS);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#taken = { accepted: 0, other: 0 };
    }
    if (this.#taken[kind] >= this.#perMinute) return false;
    this.#taken[kind] += 1;
    return true;
  }
}
