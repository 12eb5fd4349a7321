/**
 * The reference engine: snarkjs's prover, unchanged. It is slow but dependable; tests compare other engines with it.
 * The first proof imports snarkjs, so that programs that prove with the fast engine never load it.
 */
import { groth16Error } from "../errors.ts";
import { parseZkey } from "../fast/zkey.ts";
import { decodeProof, type ProofPoints } from "../proof/decode.ts";
import { toWtns } from "../witness/wtns.ts";
import type { ProvingEngine } from "./engine.ts";
import { pairingHolds, prepareVerification } from "./pairing-check.ts";

/** Options of the engine that uses snarkjs. */
export interface SnarkjsOptions {
  /**
   * Proves without workers, which takes about twice as long. Default: false, which uses one worker per core while
   * proving.
   */
  singleThread?: boolean | undefined;
}

interface SnarkjsProof {
  pi_a: string[];
  pi_b: string[][];
  pi_c: string[];
}

/** Proves with snarkjs, which is slower but runs wherever JavaScript does. */
export function snarkjsEngine({ singleThread = false }: SnarkjsOptions = {}): ProvingEngine {
  return {
    name: "snarkjs",
    async prove(zkey, witness) {
      // snarkjs itself accepts a key that does not blind.
      parseZkey(zkey);
      const run = async (): Promise<ProofPoints> => {
        const { groth16 } = await import("snarkjs");
        const { proof } = await groth16.prove(zkey, toWtns(witness), undefined, { singleThread });
        return toPoints(proof as unknown as SnarkjsProof);
      };
      try {
        return await (singleThread ? run() : withWorkers(run));
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw groth16Error("ENGINE_FAILED", `snarkjs could not prove: ${reason}.`, { reason }, error);
      }
    },
    prepareVerification,
    verify: pairingHolds,
  };
}

function toPoints({ pi_a, pi_b, pi_c }: SnarkjsProof): ProofPoints {
  return decodeProof([...pi_a.slice(0, 2), ...pi_b.slice(0, 2).flat(), ...pi_c.slice(0, 2)]);
}

/** The part of snarkjs that its types do not declare. */
interface WithCurves {
  readonly curves: {
    getCurveFromName(name: string, options: { singleThread: boolean }): Promise<{ terminate(): Promise<void> }>;
  };
}

let threaded: Promise<{ terminate(): Promise<void> }> | undefined;
let users = 0;

/**
 * Runs an action that uses snarkjs's multi-threaded curve, and terminates the curve's workers after the last action,
 * because idle workers keep the process alive. snarkjs caches the curve in a global: two concurrent calls would each
 * build one, and the workers of one would leak. So this function builds the curve first, once.
 */
export async function withWorkers<T>(run: () => Promise<T>): Promise<T> {
  users++;
  threaded ??= import("snarkjs").then((snarkjs) => {
    const { curves } = snarkjs as unknown as WithCurves;
    return curves.getCurveFromName("bn128", { singleThread: false });
  });
  const curve = await threaded;
  try {
    return await run();
  } finally {
    users--;
    if (users === 0) {
      threaded = undefined;
      await curve.terminate();
    }
  }
}
