import type { Worker } from "node:worker_threads";
import { PROOF_RESULT, type ProofResult, type Statement } from "./proof-statement.ts";

/** A queued proof and its promise. */
export interface Job {
  readonly statement: Statement;
  /** The client that asks, an id made by `clientIds`. */
  readonly client: string;
  /** Number of workers that ended while they verified it. */
  readonly deaths: number;
  resolve(result: ProofResult): void;
  reject(error: Error): void;
}

interface Listener {
  /** The worker can accept jobs: it has started (0), or it has answered this many jobs. */
  idle(answered: number): void;
  /** The worker ended. `jobs` are its unanswered jobs; `started` says whether it was ever ready. */
  died(thread: Thread, jobs: readonly Job[], started: boolean, cause: Error): void;
}

/** One worker, from its start to its end. It keeps the process alive only while it works. */
export class Thread {
  readonly #worker: Worker;
  readonly #listener: Listener;
  #started = false;
  #dead = false;
  #jobs: readonly Job[] = [];
  #cause = new Error("the worker ended");

  constructor(worker: Worker, listener: Listener) {
    this.#worker = worker;
    this.#listener = listener;
    worker.on("message", (message: "ready" | readonly ProofResult[]) => this.#answered(message));
    worker.on("error", (error) => {
      this.#cause = error instanceof Error ? error : new Error(String(error));
    });
    worker.on("exit", () => {
      this.#dead = true;
      const jobs = this.#jobs;
      this.#jobs = [];
      this.#listener.died(this, jobs, this.#started, this.#cause);
    });
  }

  get idle(): boolean {
    return this.#started && !this.#dead && this.#jobs.length === 0;
  }

  run(jobs: readonly Job[]): void {
    this.#jobs = jobs;
    this.#worker.ref();
    this.#worker.postMessage(jobs.map(({ statement }) => statement));
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #answered(message: "ready" | readonly ProofResult[]): void {
    const jobs = this.#jobs;
    this.#jobs = [];
    this.#started = true;
    this.#worker.unref();
    if (message !== "ready") {
      for (const [index, job] of jobs.entries()) job.resolve(message[index] ?? PROOF_RESULT.false);
    }
    this.#listener.idle(jobs.length);
  }
}
