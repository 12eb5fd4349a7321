import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";

/** Each compiler takes a core and up to a few hundred megabytes. */
export const MAX_COMPILERS = Math.min(2, availableParallelism());

/** Bytes that a run may leave behind in an idle thread, which frees them late. A withdrawal needs several hundred MB. */
const MAX_IDLE_MEMORY = 256 * 2 ** 20;

export interface CircomRun {
  /** The command line. */
  readonly options: readonly string[];
  /** The folders that circom can open, by the names under which the command line refers to them. */
  readonly preopens: Readonly<Record<string, string>>;
}

export interface CircomResult {
  /** The exit code; null if the compiler was stopped. */
  readonly status: number | null;
  /** Messages without colours. */
  readonly output: string;
  /** Bytes of memory that circom used. */
  readonly memory: number;
}

/** Idle threads, and callers waiting for one. */
const idle: Worker[] = [];
const waiting: (() => void)[] = [];
let threads = 0;
let compiler: Promise<WebAssembly.Module> | undefined;

const loadCompiler = (): Promise<WebAssembly.Module> =>
  WebAssembly.compile(readFileSync(createRequire(import.meta.url).resolve("circom2/circom.wasm")));

async function acquire(): Promise<Worker> {
  compiler ??= loadCompiler();
  const workerData = await compiler;
  while (idle.length === 0 && threads >= MAX_COMPILERS) await new Promise<void>((resolve) => waiting.push(resolve));
  const known = idle.pop();
  if (known !== undefined) return known;
  threads++;
  return new Worker(new URL("./circom-thread.ts", import.meta.url), { workerData });
}

/** @param reusable whether the thread can run circom again; otherwise it ends */
function release(thread: Worker, reusable: boolean): void {
  if (reusable) idle.push(thread);
  else {
    threads--;
    void thread.terminate();
  }
  waiting.shift()?.();
}

/**
 * Runs circom in a thread, because it is synchronous WASM; at most `MAX_COMPILERS` at a time. The threads of a process share
 * the machine code of the compiler, which takes a second to optimize. A thread keeps the process alive only while it works.
 * @param stop ends the thread
 */
export async function runCircom(run: CircomRun, stop?: AbortSignal): Promise<CircomResult> {
  const stopped: CircomResult = { status: null, output: "", memory: 0 };
  const thread = await acquire();
  const end = () => void thread.terminate();
  const listening = new AbortController();
  let reusable = false;
  try {
    if (stop?.aborted) return stopped;
    stop?.addEventListener("abort", end);
    thread.ref();
    const { signal } = listening;
    const message = once(thread, "message", { signal }) as Promise<[CircomResult]>;
    const exit = once(thread, "exit", { signal }).then(() => [stopped]);
    thread.postMessage(run);
    const [result = stopped] = await Promise.race([message, exit]);
    reusable = result.status !== null && result.memory <= MAX_IDLE_MEMORY;
    return result;
  } finally {
    listening.abort();
    stop?.removeEventListener("abort", end);
    thread.unref();
    release(thread, reusable);
  }
}
