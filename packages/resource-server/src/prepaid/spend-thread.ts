import { Worker } from "node:worker_threads";

export interface SpendOrder {
  readonly id: number;
  readonly holder: string;
  /** JSON: a list of pairs of key id and nonce. */
  readonly tokens: string;
}

export type SpendAnswer =
  | { readonly id: number; readonly spent: readonly string[] }
  | { readonly id: number; readonly error: string };

interface Pending {
  settle(spent: readonly string[]): void;
  fail(error: Error): void;
}

/** Spends tokens in SQLite, in a thread that starts with the first token. */
export class SpendThread {
  readonly #path: string;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | undefined;
  #orders = 0;

  /** @param path of the database file, which exists and is migrated */
  constructor(path: string) {
    this.#path = path;
  }

  /** @returns the ids (`spendId`) of the tokens that this call spent. @throws Error if statement or thread fails */
  spend(tokens: string, holder: string): Promise<readonly string[]> {
    this.#worker ??= this.#start();
    const id = ++this.#orders;
    const spent = new Promise<readonly string[]>((settle, fail) => this.#pending.set(id, { settle, fail }));
    this.#worker.ref();
    this.#worker.postMessage({ id, holder, tokens } satisfies SpendOrder);
    return spent;
  }

  #start(): Worker {
    // This file may run as TypeScript (type stripping) or compiled.
    const file = import.meta.url.endsWith(".ts") ? "./spend-worker.ts" : "./spend-worker.js";
    const worker = new Worker(new URL(file, import.meta.url), { workerData: this.#path });
    let cause: unknown;
    worker.on("message", (answer: SpendAnswer) => {
      const pending = this.#pending.get(answer.id);
      this.#pending.delete(answer.id);
      if (this.#pending.size === 0) worker.unref();
      if ("spent" in answer) pending?.settle(answer.spent);
      else pending?.fail(new Error(answer.error));
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
    await this.#worker?.terminate();
  }
}
