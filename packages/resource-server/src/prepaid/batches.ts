/** Collects items, and works on all that arrived while the previous ones were worked on, in their order. */
export class Batches<T> {
  readonly #work: (batch: readonly T[]) => Promise<void>;
  readonly #maxBatch: number;
  readonly #waiting: T[] = [];
  #running: Promise<void> | undefined;

  /** @param work must not reject */
  constructor(maxBatch: number, work: (batch: readonly T[]) => Promise<void>) {
    this.#maxBatch = maxBatch;
    this.#work = work;
  }

  /** Number of items that wait, without those that are worked on. */
  get waiting(): number {
    return this.#waiting.length;
  }

  add(item: T): void {
    this.#waiting.push(item);
    this.#running ??= this.#run();
  }

  /** Resolves once no item waits. */
  async end(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        // All requests of this turn of the event loop share a batch.
        await new Promise((resolve) => setImmediate(resolve));
        await this.#work(this.#waiting.splice(0, this.#maxBatch));
      }
    } finally {
      this.#running = undefined;
    }
  }
}
