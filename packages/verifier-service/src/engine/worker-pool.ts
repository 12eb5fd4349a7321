/**
 * The engine's workers and their queue. Idle workers share what is queued and verify it in batches. A worker that dies is
 * replaced, and its jobs run again one at a time, so that a job that kills workers does not affect others twice.
 */
import type { Worker } from "node:worker_threads";
import { EngineError } from "./errors.ts";
import { Failures } from "./failures.ts";
import { FairQueue } from "./fair-queue.ts";
import { PROOF_RESULT, type ProofResult, type Statement } from "./proof-statement.ts";
import { type Job, Thread } from "./thread.ts";

export interface WorkerPoolOptions {
  /** Threads. */
  readonly workers: number;
  /** Maximum proofs in the queue, not counting those being verified. */
  readonly maxQueue: number;
  readonly start: () => Worker;
}

/** What the engine does now, and what it refused since the start. */
export interface EngineStatus {
  /** Proofs that wait for a thread: of clients that recently sent invalid proofs, and of others. */
  readonly waiting: { readonly trusted: number; readonly suspect: number };
  /** Proofs that are being verified. */
  readonly verifying: number;
  /** Threads that are alive. */
  readonly threads: number;
  /** Networks that sent an invalid proof recently, up to a limit. */
  readonly failedNetworks: number;
  /** Proofs that were refused because the queue was full. */
  readonly refused: number;
  /** Threads that ended unexpectedly. */
  readonly deaths: number;
  /** Maximum proofs that wait. */
  readonly maxWaiting: number;
}

const MAX_DEATHS = 2;
/** Pause between attempts to start a worker, ms; doubled after each failure. */
const [FIRST_PAUSE_MS, MAX_PAUSE_MS] = [50, 5_000];

export class WorkerPool {
  /** Resolves when the first worker is ready; rejects with ENGINE_FAILED if its start fails. */
  readonly started: Promise<void>;
  readonly #options: WorkerPoolOptions;
  readonly #threads = new Set<Thread>();
  readonly #restarts = new Set<NodeJS.Timeout>();
  /** The clock is monotonic. */
  readonly #failures = new Failures(() => performance.now());
  readonly #queue: FairQueue;
  #running = 0;
  #refused = 0;
  #deaths = 0;
  #failedStarts = 0;
  #scheduled = false;
  #closing: Promise<void> | undefined;
  #whenEmpty: (() => void) | undefined;
  /** Settles `started`; only the first call counts. */
  #settleStart: (failure?: Error) => void = () => undefined;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#queue = new FairQueue(this.#failures, options.maxQueue);
    this.started = new Promise((resolve, reject) => {
      this.#settleStart = (failure) => (failure === undefined ? resolve() : reject(failure));
    });
    // Without a handler a rejection would end the process.
    this.started.catch(() => undefined);
    for (let index = 0; index < options.workers; index++) this.#start();
  }

  /** @param client an id made by `clientIds`: clients take turns */
  run(statement: Statement, client: string): Promise<ProofResult> {
    if (this.#closing !== undefined) return Promise.reject(new EngineError("ENGINE_CLOSED", "the engine is closed"));
    const { maxQueue } = this.#options;
    return new Promise((resolve, reject) => {
      const removed = this.#queue.add({
        ...{ statement, client, deaths: 0, reject },
        resolve: (result) => {
          if (result !== PROOF_RESULT.true) this.#failures.add(client);
          resolve(result);
        },
      });
      const message = `the queue of ${maxQueue} proofs is full; try again`;
      if (removed !== undefined) this.#refused += 1;
      removed?.reject(new EngineError("ENGINE_OVERLOADED", message, { maxQueue }));
      this.#schedule();
    });
  }

  get status(): EngineStatus {
    return {
      waiting: this.#queue.waiting,
      verifying: this.#running,
      threads: this.#threads.size,
      failedNetworks: this.#failures.recent,
      refused: this.#refused,
      deaths: this.#deaths,
      maxWaiting: this.#options.maxQueue,
    };
  }

  /** Completes all accepted jobs, then ends the workers. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#queue.length + this.#running > 0)
      await new Promise<void>((resolve) => {
        this.#whenEmpty = resolve;
      });
    for (const timer of this.#restarts) clearTimeout(timer);
    await Promise.all(Array.from(this.#threads, (thread) => thread.end()));
  }

  #start(): void {
    const thread: Thread = new Thread(this.#options.start(), {
      idle: (answered) => this.#idle(answered),
      died: (dead, jobs, started, cause) => this.#died(dead, jobs, started, cause),
    });
    this.#threads.add(thread);
  }

  #idle(answered: number): void {
    this.#running -= answered;
    this.#failedStarts = 0;
    this.#settleStart();
    this.#schedule();
  }

  /** Dispatches at the end of this turn of the event loop, so that proofs that arrive together share a batch. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#dispatch();
    });
  }

  #dispatch(): void {
    const idle = [...this.#threads].filter((thread) => thread.idle);
    idle.forEach((thread, index) => {
      const jobs = this.#queue.take(idle.length - index);
      if (jobs.length === 0) return;
      this.#running += jobs.length;
      thread.run(jobs);
    });
    if (this.#queue.length + this.#running === 0) this.#whenEmpty?.();
  }

  #died(thread: Thread, jobs: readonly Job[], started: boolean, cause: Error): void {
    this.#threads.delete(thread);
    if (this.#closing === undefined) this.#deaths += 1;
    this.#running -= jobs.length;
    const failed = (message: string) => new EngineError("ENGINE_FAILED", message, {}, { cause });
    for (const job of jobs) {
      const again = { ...job, deaths: job.deaths + 1 };
      if (again.deaths < MAX_DEATHS) this.#queue.putBack(again);
      else job.reject(failed("the worker that verified this proof ended twice"));
    }
    if (!started) {
      this.#settleStart(failed("the engine's workers do not start"));
      this.#failedStarts++;
      const left = this.#threads.size === 0 ? this.#queue.clear() : [];
      for (const job of left) job.reject(failed("no worker can be started"));
    }
    if (this.#closing === undefined || this.#queue.length > 0) this.#restart();
    this.#schedule();
  }

  #restart(): void {
    if (this.#failedStarts === 0) {
      this.#start();
      return;
    }
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** (this.#failedStarts - 1), MAX_PAUSE_MS);
    const timer = setTimeout(() => {
      this.#restarts.delete(timer);
      this.#start();
    }, pause);
    timer.unref();
    this.#restarts.add(timer);
  }
}
