/**
 * Other threads of the fast engine, each started when first needed. Under Node, there is one worker for the process, which keeps
 * it alive only while it works. A page has two, so that it does not wait for a proof itself.
 */

import type { Program } from "../fast/kernel.ts";
import type { Degree } from "../fast/layout.ts";
import type { Part, Witness } from "../fast/parts.ts";
import { compilePrograms, type Programs } from "../fast/programs.ts";
import type { PartialSums } from "../fast/prove.ts";
import { type FilePlace, KeyOnDisk } from "./key-on-disk.ts";
import type { Claims } from "./share.ts";

export type Request =
  | {
      readonly id: number;
      readonly prepare: {
        readonly key: number;
        /** Its bytes, or the file that the thread reads. */
        readonly zkey: Uint8Array | FilePlace;
        readonly parts: readonly Part[];
        readonly programs: Programs;
      };
    }
  | {
      readonly id: number;
      readonly sum: {
        readonly key: number;
        readonly witness: Witness;
        readonly parts: readonly Part[];
        readonly claims: Claims;
      };
    }
  | { readonly id: number; readonly points: PointsRequest }
  | { readonly id: number; readonly drop: number };

/** Packed x-coordinates of a compact key. */
export interface PointsRequest {
  readonly program: Program;
  readonly degree: Degree;
  readonly packed: Uint8Array;
}

export interface Reply {
  readonly id: number;
  readonly partialSums?: readonly PartialSums[] | undefined;
  /** Absent if an x-coordinate has no point. */
  readonly points?: Uint8Array | undefined;
  readonly error?: string | undefined;
}

/** The part of node:worker_threads that is used here, declared so that this package compiles without Node's types. */
interface NodeWorker {
  postMessage(message: Request): void;
  on(event: "message", listener: (reply: Reply) => void): void;
  on(event: "error", listener: (error: Error) => void): void;
  on(event: "exit", listener: () => void): void;
  ref(): void;
  unref(): void;
}

type WorkerClass = new (url: URL, options: { execArgv: string[] }) => NodeWorker;

/** The part of a browser's Worker that is used here. */
interface PageWorker {
  postMessage(message: Request): void;
  onmessage: ((event: { readonly data: Reply }) => void) | null;
  onerror: ((event: { readonly message?: string | undefined; preventDefault?(): void }) => void) | null;
}

interface WithPage {
  readonly Worker?: (new (url: string) => PageWorker) | undefined;
  readonly navigator?: { readonly hardwareConcurrency?: number | undefined } | undefined;
}

interface NodeProcess {
  getBuiltinModule?(name: "node:worker_threads"): { Worker: WorkerClass } | undefined;
  getBuiltinModule?(name: "node:os"): { availableParallelism(): number } | undefined;
}

function nodeProcess(): NodeProcess | undefined {
  return (globalThis as { process?: NodeProcess }).process;
}

/** Whether the machine has a second core and the runtime has worker threads. */
export function hasSecondThread(): boolean {
  return (nodeProcess()?.getBuiltinModule?.("node:os")?.availableParallelism() ?? 1) > 1;
}

/** Whether a worker of this page ended before it replied, as all do if the page's policy forbids them. */
let pageWorkersFail = false;

export const isPage = (): boolean => nodeProcess()?.getBuiltinModule === undefined;

/** The number of other threads that prove. */
export type OtherThreads = 0 | 1 | 2;

/** @param pageWorkers whether two workers prove in a page */
export function otherThreads(singleThread: boolean, pageWorkers: boolean): OtherThreads {
  if (singleThread) return 0;
  return pageWorkers && hasPageWorkers() ? 2 : hasSecondThread() ? 1 : 0;
}

/** Whether this is a page, or a worker of one, that can start workers. */
export function hasPageWorkers(): boolean {
  return isPage() && typeof (globalThis as WithPage).Worker === "function" && !pageWorkersFail;
}

/** Of the workers' code. */
let pageUrl: string | undefined;

/** Starts a worker of a page from the text of its code, which needs no file of its own beside a bundle. */
async function startPageWorker(): Promise<PageWorker> {
  const { workerSource } = await import("../worker-source.ts");
  pageUrl ??= URL.createObjectURL(new Blob([workerSource], { type: "text/javascript" }));
  const { Worker } = globalThis as unknown as Required<WithPage>;
  return new (Worker as new (url: string) => PageWorker)(pageUrl);
}

function startNodeWorker(Worker: WorkerClass): NodeWorker {
  // This module runs either from source (with type stripping) or bundled into dist/index.js.
  const isSource = import.meta.url.endsWith(".ts");
  const url = new URL(isSource ? "../fast-worker.ts" : "./fast-worker.js", import.meta.url);
  // Do not pass the main thread's flags (--eval, --import) to the worker.
  return new Worker(url, { execArgv: [] });
}

type Ask = Request extends infer Each ? (Each extends Request ? Omit<Each, "id"> : never) : never;

interface Pending {
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

/** Node has the first only. */
const threads: (Thread | undefined)[] = [];

class Thread {
  #post: (request: Request) => void;
  readonly #keepAlive: (isWorking: boolean) => void;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #hasReplied = false;
  #failure: Error | undefined;

  constructor(worker: NodeWorker | Promise<PageWorker>) {
    if (!(worker instanceof Promise)) {
      this.#post = (request) => worker.postMessage(request);
      this.#keepAlive = (isWorking) => (isWorking ? worker.ref() : worker.unref());
      worker.on("message", (reply) => this.#settle(reply));
      worker.on("error", (error) => this.#end(error));
      worker.on("exit", () => this.#end(new Error("the worker ended")));
      // Called after the listeners are added, because adding one for messages undoes it.
      worker.unref();
      return;
    }
    const waiting: Request[] = [];
    this.#post = (request) => void waiting.push(request);
    this.#keepAlive = () => undefined;
    worker.then(
      (started) => {
        started.onmessage = ({ data }) => this.#settle(data);
        started.onerror = (event) => {
          event.preventDefault?.();
          this.#end(new Error(event.message ?? "the worker could not be started"));
        };
        this.#post = (request) => started.postMessage(request);
        for (const request of waiting) started.postMessage(request);
      },
      (error: unknown) => this.#end(error instanceof Error ? error : new Error(String(error))),
    );
  }

  #settle(reply: Reply): void {
    this.#hasReplied = true;
    const pending = this.#take(reply.id);
    if (reply.error === undefined) pending?.resolve(reply);
    else pending?.reject(new Error(reply.error));
  }

  /** Whether the worker has ended, so that it answers nothing more. */
  get hasEnded(): boolean {
    return this.#failure !== undefined;
  }

  async ask(request: Ask): Promise<Reply> {
    if (this.#failure !== undefined) throw this.#failure;
    const id = this.#nextId++;
    this.#post({ id, ...request });
    return new Promise((resolve, reject) => {
      if (this.#pending.size === 0) this.#keepAlive(true);
      this.#pending.set(id, { resolve, reject });
    });
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#keepAlive(false);
    return pending;
  }

  #end(error: Error): void {
    const index = threads.indexOf(this);
    if (index >= 0) threads[index] = undefined;
    if (!this.#hasReplied && isPage()) pageWorkersFail = true;
    this.#failure ??= error;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}

let nextKey = 1;
/** When a RemoteKey is garbage-collected, the second thread drops its share of the key. */
const dropped = /* @__PURE__ */ new FinalizationRegistry<{ home: Thread; key: number }>(({ home, key }) => {
  // compilePrograms() settles later than the request that prepared the key.
  compilePrograms()
    .then(() => (threads.includes(home) ? home.ask({ drop: key }) : undefined))
    .catch(() => undefined);
});

/** A key's share on the second thread. */
export interface RemoteKey {
  /** Rejects if the thread could not be started or the key not be prepared; sums fail then too. */
  readonly ready: Promise<void>;
  /** Whether the thread has ended. Then sums fail at once, and the key must be prepared again. */
  readonly hasEnded: boolean;
  /**
   * Asked before the key is ready, it waits.
   * @param witness unchanged until the sums are there; the thread wipes its copy, but no shared memory
   * @param parts only these parts
   * @param claims the windows of b2 that either thread has taken
   */
  sum(witness: Witness, parts: readonly Part[], claims: Claims): Promise<readonly PartialSums[]>;
}

/** Starts the threads that do not run yet, which takes as long as reading a key. */
export function startThreads(count: OtherThreads): void {
  try {
    for (let index = 0; index < count; index++) currentThread(index as 0 | 1);
  } catch {
    // `prepareRemotely` reports it.
  }
}

/** @throws Error if the runtime has no worker threads */
function currentThread(index: 0 | 1): Thread {
  let thread = threads[index];
  if (thread !== undefined) return thread;
  if (hasPageWorkers()) thread = new Thread(startPageWorker());
  else {
    const workers = nodeProcess()?.getBuiltinModule?.("node:worker_threads");
    if (workers === undefined) throw new Error("this runtime has no worker threads");
    thread = new Thread(startNodeWorker(workers.Worker));
  }
  threads[index] = thread;
  return thread;
}

/**
 * Computes points on another thread; see `pointsOf`.
 * @throws Error if the thread cannot be started, or fails
 */
export async function pointsRemotely(points: PointsRequest, index: 0 | 1): Promise<Uint8Array | undefined> {
  return (await currentThread(index).ask({ points })).points;
}

/**
 * Begins to prepare these parts of a key on another thread, which gets a copy of the key unless it is in shared memory or a file.
 * @param index which one; default: the first
 * @throws Error if the runtime has no worker threads
 */
export function prepareRemotely(file: Uint8Array | KeyOnDisk, parts: readonly Part[], index: 0 | 1 = 0): RemoteKey {
  const [home, key] = [currentThread(index), nextKey++];
  const zkey = file instanceof KeyOnDisk ? file.place : file;
  const programs = compilePrograms();
  const remote: RemoteKey = {
    ready: programs.then((programs) => home.ask({ prepare: { key, zkey, parts, programs } })).then(() => undefined),
    get hasEnded() {
      return home.hasEnded;
    },
    async sum(witness, parts, claims) {
      await programs;
      const { partialSums } = await home.ask({ sum: { key, witness, parts, claims } });
      if (partialSums === undefined) throw new Error("the worker returned no partialSums");
      return partialSums;
    },
  };
  dropped.register(remote, { home, key });
  return remote;
}
