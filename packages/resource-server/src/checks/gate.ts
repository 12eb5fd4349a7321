import { CheckUnavailable } from "../outcome.ts";

interface Waiting {
  readonly enter: () => void;
  readonly refuse: (error: Error) => void;
}

/** Limits concurrency: further calls wait, one client after the other, and calls beyond the queue's size are rejected. */
export class Gate {
  readonly #limit: number;
  readonly #queueSize: number;
  /** Clients with waiting calls, the next one first. */
  readonly #clients = new Map<string, Waiting[]>();
  #waiting = 0;
  #busy = 0;

  /**
   * @param limit maximum number of concurrent actions
   * @param queueSize maximum number of waiting actions; beyond it, the last call of the client with the most is rejected
   */
  constructor(limit: number, queueSize: number) {
    this.#limit = limit;
    this.#queueSize = queueSize;
  }

  /**
   * Runs `action` as soon as a place is free.
   * @param client clients take turns; without it, calls run in order
   * @throws CheckUnavailable OVERLOADED
   */
  async run<T>(action: () => Promise<T>, client = ""): Promise<T> {
    // A finished action passes its slot to a waiting one, so #busy does not change.
    if (this.#busy >= this.#limit) await this.#wait(client);
    else this.#busy += 1;
    try {
      return await action();
    } finally {
      const next = this.#next();
      if (next === undefined) this.#busy -= 1;
      else next.enter();
    }
  }

  #wait(client: string): Promise<void> {
    return new Promise((enter, refuse) => {
      const own = this.#clients.get(client) ?? [];
      this.#clients.set(client, own);
      own.push({ enter, refuse });
      this.#waiting += 1;
      if (this.#waiting > this.#queueSize) this.#removeFromLongest(client, own);
    });
  }

  #next(): Waiting | undefined {
    const [first] = this.#clients;
    if (first === undefined) return undefined;
    const [client, own] = first;
    const next = own.shift();
    // To the end of the order.
    this.#clients.delete(client);
    if (own.length > 0) this.#clients.set(client, own);
    this.#waiting -= 1;
    return next;
  }

  #removeFromLongest(client: string, own: Waiting[]): void {
    let longest: readonly [client: string, calls: Waiting[]] = [client, own];
    for (const other of this.#clients) if (other[1].length > longest[1].length) longest = other;
    longest[1].pop()?.refuse(new CheckUnavailable("OVERLOADED", 2));
    if (longest[1].length === 0) this.#clients.delete(longest[0]);
    this.#waiting -= 1;
  }
}
