import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { decodeProofOnCurves, decodeSignals, notInSubgroup, parseVerificationKey } from "@sotto/prover";
import { EngineError } from "./errors.ts";
import { OUTCOME } from "./statement.ts";
import { WorkerPool } from "./worker-pool.ts";

export { EngineError, type EngineErrorCode } from "./errors.ts";

export interface VerifyEngineOptions {
  /** In snarkjs's format, by circuit. */
  readonly verificationKeys: Readonly<Record<string, unknown>>;
  /** Threads; as many as the machine has cores unless said otherwise. */
  readonly workers?: number | undefined;
  /** Most proofs that wait, beside those being verified; 1,024 unless said otherwise. */
  readonly maxQueue?: number | undefined;
  /** Starts a worker with these data; node's own unless said otherwise. */
  readonly startWorker?: ((data: unknown) => Worker) | undefined;
}

export interface VerifyEngine {
  /**
   * @param proof eight decimal strings in the wire's order
   * @param signals the public signals in order, decimal strings
   * @returns whether the proof holds for these signals. Rejects, as the prover's verifier does, when something is no
   * encoding of a proof (`PROOF_*`, `SIGNALS_MALFORMED`, `SIGNAL_RANGE`) or the circuit unknown (`CIRCUIT_UNKNOWN`); and
   * with `ENGINE_OVERLOADED`, `ENGINE_FAILED`, `ENGINE_CLOSED`.
   */
  verify(circuit: string, proof: readonly string[], signals: readonly string[]): Promise<boolean>;
  /** Answers what was accepted, then ends the workers. */
  close(): Promise<void>;
}

const DEFAULT_MAX_QUEUE = 1024;

/**
 * Verifies Groth16 proofs on worker threads, many at a time when many wait.
 * @throws SottoError VERIFICATION_KEY_INVALID; EngineError ENGINE_FAILED when no worker starts
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
    async verify(circuit, proof, signals) {
      const key = indices.get(circuit);
      if (key === undefined) {
        const known = [...indices.keys()].join(", ");
        const message = `No verification key for circuit ${JSON.stringify(circuit)}; there are ${known}.`;
        throw new EngineError("CIRCUIT_UNKNOWN", message, { circuit, known });
      }
      // The worker trusts all of this but B's subgroup, which it checks itself: here it would hold up every request.
      const numbers = decodeSignals(signals, keys[key]!.nPublic);
      const outcome = await pool.run({ key, points: decodeProofOnCurves(proof), signals: numbers });
      if (outcome === OUTCOME.notInSubgroup) throw notInSubgroup("b");
      return outcome === OUTCOME.true;
    },
    close: () => pool.close(),
  };
}

function startOwn(workerData: unknown): Worker {
  // The sources run as they are (type stripping) and compiled.
  const file = import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js";
  return new Worker(new URL(file, import.meta.url), { workerData });
}
