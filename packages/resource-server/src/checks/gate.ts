import { CheckUnavailable } from "../outcome.ts";

/** Lets a few through at a time, has some wait in order, and sends the rest away. */
export class Gate {
  readonly #places: number;
  readonly #room: number;
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  /**
   * @param places what may run at once
   * @param room what may wait
   */
  constructor(places: number, room: number) {
    this.#places = places;
    this.#room = room;
  }

  /** @throws CheckUnavailable OVERLOADED */
  async run<T>(action: () => Promise<T>): Promise<T> {
    if (this.#busy >= this.#places) {
      if (this.#waiting.length >= this.#room) throw new CheckUnavailable("OVERLOADED", 2);
      // Whoever leaves hands its place on.
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
