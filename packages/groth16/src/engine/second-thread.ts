/**
 * A second thread of the fast engine, under Node: one worker for the process, started when first needed. It keeps the
 * process alive only while it works. There is no equivalent for browsers: pages run the whole prover in a worker.
 */

import type { Part, Witness } from "../fast/parts.ts";
import { compilePrograms, type Programs } from "../fast/programs.ts";
import type { PartialSums } from "../fast/prove.ts";
import type { ClaimedGroups } from "./share.ts";

export type Request =
  | {
      readonly id: number;
      readonly prepare: {
        readonly key: number;
        readonly zkey: Uint8Array;
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
        readonly claims: ClaimedGroups;
      };
    }
  | { readonly id: number; readonly drop: number };

export interface Reply {
  readonly id: number;
  readonly partialSums?: readonly PartialSums[] | undefined;
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

type Ask = Request extends infer Each ? (Each extends Request ? Omit<Each, "id"> : never) : never;

interface Pending {
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

let thread: Thread | undefined;

class Thread {
  readonly #worker: NodeWorker;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #failure: Error | undefined;

  constructor(Worker: WorkerClass) {
    // This module runs either from source (with type stripping) or bundled into dist/index.js.
    const isSource = import.meta.url.endsWith(".ts");
    const url = new URL(isSource ? "../fast-worker.ts" : "./fast-worker.js", import.meta.url);
    // Do not pass the main thread's flags (--eval, --import) to the worker.
    this.#worker = new Worker(url, { execArgv: [] });
    this.#worker.on("message", (reply) => {
      const pending = this.#take(reply.id);
      if (reply.error === undefined) pending?.resolve(reply);
      else pending?.reject(new Error(reply.error));
    });
    this.#worker.on("error", (error) => this.#end(error));
    this.#worker.on("exit", () => this.#end(new Error("the worker ended")));
    // Called after the listeners are added, because adding one for messages undoes it.
    this.#worker.unref();
  }

  /** Whether the worker has ended, so that it answers nothing more. */
  get hasEnded(): boolean {
    return this.#failure !== undefined;
  }

  async ask(request: Ask): Promise<Reply> {
    if (this.#failure !== undefined) throw this.#failure;
    const id = this.#nextId++;
    this.#worker.postMessage({ id, ...request });
    return new Promise((resolve, reject) => {
      if (this.#pending.size === 0) this.#worker.ref();
      this.#pending.set(id, { resolve, reject });
    });
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#worker.unref();
    return pending;
  }

  #end(error: Error): void {
    if (thread === this) thread = undefined;
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
    .then(() => (thread === home ? home.ask({ drop: key }) : undefined))
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
   * @param parts only these parts
   * @param claims the windows of b2 that either thread has taken
   */
  sum(witness: Witness, parts: readonly Part[], claims: ClaimedGroups): Promise<readonly PartialSums[]>;
}

/** Starts the thread, which takes as long as reading a key, if it does not run yet. */
export function startSecondThread(): void {
  try {
    currentThread();
  } catch {
    // `prepareRemotely` reports it.
  }
}

/** @throws Error if the runtime has no worker threads */
function currentThread(): Thread {
  const threads = nodeProcess()?.getBuiltinModule?.("node:worker_threads");
  if (threads === undefined) throw new Error("this runtime has no worker threads");
  thread ??= new Thread(threads.Worker);
  return thread;
}

/**
 * Begins to prepare these parts of a key on the second thread.
 * @throws Error if the runtime has no worker threads
 */
export function prepareRemotely(zkey: Uint8Array, parts: readonly Part[]): RemoteKey {
  const [home, key] = [currentThread(), nextKey++];
  const file = isShared(zkey) ? zkey : shareBytes(zkey);
  const programs = compilePrograms();
  const remote: RemoteKey = {
    ready: programs
      .then((programs) => home.ask({ prepare: { key, zkey: file, parts, programs } }))
      .then(() => undefined),
    get hasEnded() {
      return home.hasEnded;
    },
    async sum(witness, parts, claims) {
      const copy = shareBytes(witness);
      try {
        await programs;
        const { partialSums } = await home.ask({ sum: { key, witness: copy, parts, claims } });
        if (partialSums === undefined) throw new Error("the worker returned no partialSums");
        return partialSums;
      } finally {
        copy.fill(0);
      }
    },
  };
  dropped.register(remote, { home, key });
  return remote;
}

const isShared = ({ buffer }: Uint8Array): boolean =>
  Object.prototype.toString.call(buffer) === "[object SharedArrayBuffer]";

/** A copy in memory of both threads: a message with other memory is copied twice, and one copy cannot be wiped. */
function shareBytes(bytes: Uint8Array): Uint8Array {
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.byteLength));
  shared.set(bytes);
  return shared;
}
