import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { CombResult, CombTask } from "./comb-worker.ts";
import { type CurveModule, type GroupName, SIZES } from "./wasm-curve.ts";

/** Each thread has its own tables, about 8 MB. */
const MAXIMUM_THREADS = 8;
/** Scalars per message: few enough to distribute the work evenly, many enough to keep the cost of messages low. */
const CHUNK = 4_096;

export interface Products {
  /** Affine points in ffjavascript's internal form, as in a zkey or ptau file. */
  points: Uint8Array<ArrayBuffer>;
  /** The points uncompressed and big-endian, for hashing. Empty unless requested. */
  uncompressed: Uint8Array<ArrayBuffer>;
}

interface Job {
  task: CombTask;
  done: (result: CombResult) => void;
  failed: (error: Error) => void;
}

/**
 * Multiplies the generators of BN254 by many scalars on all cores. The result does not depend on the number of cores.
 */
export class CombPool {
  readonly #workers: Worker[];
  readonly #idle: Worker[];
  readonly #queue: Job[] = [];

  private constructor(workers: Worker[]) {
    this.#workers = workers;
    this.#idle = [...workers];
  }

  static start(workerData: CurveModule): CombPool {
    const threads = Math.min(availableParallelism(), MAXIMUM_THREADS);
    const source = new URL("./comb-worker.ts", import.meta.url);
    return new CombPool(Array.from({ length: threads }, () => new Worker(source, { workerData })));
  }

  /** @param scalars 32 bytes each, little-endian, below r. */
  async multiply(group: GroupName, scalars: Uint8Array, uncompressed = false): Promise<Products> {
    const chunks: Promise<CombResult>[] = [];
    for (let at = 0; at < scalars.byteLength; at += CHUNK * SIZES.scalar)
      chunks.push(this.#run({ group, scalars: scalars.slice(at, at + CHUNK * SIZES.scalar), uncompressed }));
    const results = await Promise.all(chunks);
    return {
      points: concatenate(results.map((result) => result.points)),
      uncompressed: concatenate(results.flatMap((result) => result.uncompressed ?? [])),
    };
  }

  #run(task: CombTask): Promise<CombResult> {
    return new Promise((done, failed) => {
      this.#queue.push({ task, done, failed });
      this.#dispatch();
    });
  }

  #dispatch(): void {
    const job = this.#queue[0];
    const worker = this.#idle[0];
    if (job === undefined || worker === undefined) return;
    this.#queue.shift();
    this.#idle.shift();
    const onMessage = (result: CombResult) => {
      worker.off("error", onError);
      this.#idle.push(worker);
      job.done(result);
      this.#dispatch();
    };
    const onError = (error: Error) => {
      worker.off("message", onMessage);
      job.failed(error);
    };
    worker.once("message", onMessage).once("error", onError);
    worker.postMessage(job.task, [job.task.scalars.buffer]);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}

function concatenate(parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((total, part) => total + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.byteLength;
  }
  return joined;
}
