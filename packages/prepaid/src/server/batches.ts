export interface BatchLimits {
  /** Maximum number of items in a batch. */
  readonly size: number;
  /** Maximum number of batches that are worked on at the same time. */
  readonly running: number;
  /** Number of waiting items that start a batch at once. */
  readonly early: number;
}

/** Collects items, and works on them in batches, in the order in which they were added. */
export class Batches<T> {
  readonly #limits: BatchLimits;
  readonly #work: (batch: readonly T[]) => Promise<void>;
  readonly #running = new Set<Promise<void>>();
  #waiting: T[] = [];
  #isScheduled = false;

  /** @param work must not reject */
  constructor(limits: BatchLimits, work: (batch: readonly T[]) => Promise<void>) {
    this.#limits = limits;
    this.#work = work;
  }

  /** Number of items that wait, without those that are worked on. */
  get waiting(): number {
    return this.#waiting.length;
  }

  add(item: T): void {
    this.#waiting.push(item);
    if (this.#waiting.length >= this.#limits.early) this.#start();
    else this.#schedule();
  }

  /** Resolves once no item waits and none is worked on. */
  async end(): Promise<void> {
    while (this.#waiting.length > 0 || this.#running.size > 0) {
      this.#start();
      await Promise.race(this.#running);
    }
  }

  /** Starts a batch after this turn of the event loop, so that all requests of the turn share it. */
  #schedule(): void {
    if (this.#isScheduled || this.#running.size >= this.#limits.running) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#start();
    });
  }

  #start(): void {
    const { size, running } = this.#limits;
    if (this.#waiting.length === 0 || this.#running.size >= running) return;
    const batch = this.#waiting.slice(0, size);
    this.#waiting = this.#waiting.slice(size);
    const work = this.#work(batch).then(() => {
      this.#running.delete(work);
      if (this.#waiting.length > 0) this.#schedule();
    });
    this.#running.add(work);
  }
}
