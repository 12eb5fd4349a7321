// A thread that carries out orders, in their order. It starts with the first order, and again after it ended.
import { parentPort, receiveMessageOnPort, Worker } from "node:worker_threads";

interface Order<T> {
  readonly id: number;
  readonly order: T;
}

type Answer<R> = { readonly id: number } & ({ readonly result: R } | { readonly error: string });

interface Pending<R> {
  settle(result: R): void;
  fail(error: Error): void;
}

export class Thread<T, R> {
  readonly #name: string;
  readonly #data: unknown;
  readonly #pending = new Map<number, Pending<R>>();
  #worker: Worker | undefined;
  #orders = 0;
  #closed = false;

  /**
   * @param name the name of the file in this folder that has the thread's code, without its extension
   * @param data the thread's `workerData`
   */
  constructor(name: string, data: unknown) {
    this.#name = name;
    this.#data = data;
  }

  /** @throws Error if the order fails, the thread ends, or it is closed */
  async run(order: T): Promise<R> {
    if (this.#closed) throw new Error("the thread is closed");
    this.#worker ??= this.#start();
    const id = ++this.#orders;
    const done = new Promise<R>((settle, fail) => this.#pending.set(id, { settle, fail }));
    this.#worker.ref();
    this.#worker.postMessage({ id, order } satisfies Order<T>);
    return done;
  }

  #start(): Worker {
    // This file may run as TypeScript (type stripping) or compiled.
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const url = new URL(`./${this.#name}.${extension}`, import.meta.url);
    const worker = new Worker(url, { workerData: this.#data });
    let cause: unknown;
    worker.on("message", (answers: readonly Answer<R>[]) => {
      for (const answer of answers) {
        const pending = this.#pending.get(answer.id);
        this.#pending.delete(answer.id);
        if ("result" in answer) pending?.settle(answer.result);
        else pending?.fail(new Error(answer.error));
      }
      if (this.#pending.size === 0) worker.unref();
    });
    worker.on("error", (error) => {
      cause = error;
    });
    worker.on("exit", () => {
      this.#worker = undefined;
      for (const { fail } of this.#pending.values()) fail(new Error("the thread ended", { cause }));
      this.#pending.clear();
    });
    return worker;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#worker?.terminate();
  }
}

/**
 * Called by the thread's own code.
 * @param handle carries out all orders that wait, and returns one result for each; its error fails all of them
 */
export function carryOut<T, R>(handle: (orders: readonly T[]) => readonly R[]): void {
  const port = parentPort!;
  port.on("message", (first: Order<T>) => {
    const orders = [first];
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port))
      orders.push(next.message as Order<T>);
    let answers: Answer<R>[];
    try {
      const results = handle(orders.map(({ order }) => order));
      answers = orders.map(({ id }, i) => ({ id, result: results[i]! }));
    } catch (cause) {
      const error = cause instanceof Error ? cause.message : String(cause);
      answers = orders.map(({ id }) => ({ id, error }));
    }
    port.postMessage(answers);
  });
}
