import { CheckUnavailable } from "../outcome.ts";

/** Limits concurrency: further calls wait in order, and calls beyond the queue's size are rejected. */
export class Gate {
  readonly #limit: number;
  readonly #queueSize: number;
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  /**
   * @param limit maximum number of concurrent actions
   * @param queueSize maximum number of waiting actions
   */
  constructor(limit: number, queueSize: number) {
    this.#limit = limit;
    this.#queueSize = queueSize;
  }

  /** @throws CheckUnavailable OVERLOADED */
  async run<T>(action: () => Promise<T>): Promise<T> {
    if (this.#busy >= this.#limit) {
      if (this.#waiting.length >= this.#queueSize) throw new CheckUnavailable("OVERLOADED", 2);
      // A finished action passes its slot to the first waiting one, so #busy does not change.
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#busy += 1;
    try {
      return await action();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#busy -= 1;
      else next();
    }
  }
}
