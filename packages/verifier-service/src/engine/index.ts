import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { decodeProofOnCurves, decodeSignals, notInSubgroup, parseVerificationKey } from "@sotto/groth16";
import { EngineError } from "./errors.ts";
import { PROOF_RESULT } from "./proof-statement.ts";
import { type EngineStatus, WorkerPool } from "./worker-pool.ts";

export { EngineError, type EngineErrorCode } from "./errors.ts";
export type { EngineStatus } from "./worker-pool.ts";

/** The keys and the size of a verify engine. */
export interface VerifyEngineOptions {
  /** In snarkjs's JSON format, by circuit. */
  readonly verificationKeys: Readonly<Record<string, unknown>>;
  /** Worker threads; by default one per core. */
  readonly workers?: number | undefined;
  /** Maximum proofs in the queue, not counting those being verified; default 1,024. */
  readonly maxQueue?: number | undefined;
  /** Starts a worker with this data; for tests. */
  readonly startWorker?: ((data: unknown) => Worker) | undefined;
}

/** Verifies proofs in worker threads. */
export interface VerifyEngine {
  /**
   * Checks a proof, together with others that wait. Clients take turns, and clients with failed proofs wait behind others.
   * @param proof eight decimal strings in the wire's order
   * @param signals the public signals in order, decimal strings
   * @param client the client that asks, an id made by `clientIds`
   * @returns whether the proof is valid for these signals. Rejects, like the prover's verifier, if a value cannot be decoded
   * (`PROOF_*`, `SIGNALS_MALFORMED`, `SIGNAL_RANGE`) or the circuit is unknown (`CIRCUIT_UNKNOWN`); also with
   * `ENGINE_OVERLOADED`, `ENGINE_FAILED` or `ENGINE_CLOSED`.
   */
  verify(circuit: string, proof: readonly string[], signals: readonly string[], client: string): Promise<boolean>;
  /** What it does now, and what it refused since the start. */
  readonly status: EngineStatus;
  /** Completes accepted proofs, then ends the workers. */
  close(): Promise<void>;
}

const DEFAULT_MAX_QUEUE = 1024;

/**
 * Verifies Groth16 proofs on worker threads, in batches if many are queued.
 * @throws SottoError VERIFICATION_KEY_INVALID; EngineError ENGINE_FAILED if no worker starts
 */
export async function createVerifyEngine(options: VerifyEngineOptions): Promise<VerifyEngine> {
  const entries = Object.entries(options.verificationKeys);
  const keys = entries.map(([name, key]) => parseVerificationKey(key, name));
  const indices = new Map(entries.map(([name], index) => [name, index]));
  const { workers = availableParallelism(), maxQueue = DEFAULT_MAX_QUEUE, startWorker = startOwn } = options;
  const pool = new WorkerPool({ workers, maxQueue, start: () => startWorker(keys) });
  try {
    await pool.started;
  } catch (error) {
    await pool.close();
    throw error;
  }
  return {
    async verify(circuit, proof, signals, client) {
      const key = indices.get(circuit);
      if (key === undefined) {
        const known = [...indices.keys()].join(", ");
        const message = `No verification key for circuit ${JSON.stringify(circuit)}; the known circuits are ${known}.`;
        throw new EngineError("CIRCUIT_UNKNOWN", message, { circuit, known });
      }
      // The worker trusts these checks. It checks the subgroup of B itself, because this check would delay every
      // request here.
      const numbers = decodeSignals(signals, keys[key]!.nPublic);
      const result = await pool.run({ key, points: decodeProofOnCurves(proof), signals: numbers }, client);
      if (result === PROOF_RESULT.notInSubgroup) throw notInSubgroup("b");
      return result === PROOF_RESULT.true;
    },
    get status() {
      return pool.status;
    },
    close: () => pool.close(),
  };
}

function startOwn(workerData: unknown): Worker {
  // This file may run as TypeScript (type stripping) or compiled.
  const file = import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js";
  return new Worker(new URL(file, import.meta.url), { workerData });
}
