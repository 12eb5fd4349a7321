/** The reference engine: snarkjs's prover as it is. Slow and dependable, it is what other engines are compared with. */
import { groth16 } from "snarkjs";
import { proverError } from "../errors.ts";
import { decodeProof, type ProofPoints } from "../proof/decode.ts";
import { toWtns } from "../witness/wtns.ts";
import type { Curve } from "./curve.ts";
import type { ProvingEngine } from "./engine.ts";
import { pairingHolds } from "./pairing-check.ts";

export interface SnarkjsOptions {
  /** One thread and no workers, at some twice the time. Default: a worker for each core while a proof is made. */
  singleThread?: boolean;
}

interface SnarkjsProof {
  pi_a: string[];
  pi_b: string[][];
  pi_c: string[];
}

/** Proofs under way in this process: snarkjs keeps one set of workers, in a global, for all of them. */
let running = 0;

export function snarkjsEngine({ singleThread = false }: SnarkjsOptions = {}): ProvingEngine {
  return {
    name: "snarkjs",
    async prove(zkey, witness) {
      if (!singleThread) running++;
      try {
        const { proof } = await groth16.prove(zkey, toWtns(witness), undefined, { singleThread });
        return toPoints(proof as unknown as SnarkjsProof);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw proverError("ENGINE_FAILED", `snarkjs could not prove: ${reason}.`, { reason }, error);
      } finally {
        if (!singleThread) {
          running--;
          if (running === 0) await endWorkers();
        }
      }
    },
    verify: pairingHolds,
    async close() {
      if (running === 0) await endWorkers();
    },
  };
}

/** Idle workers would keep the process alive for ever. Starting them again takes a fraction of a proof. */
async function endWorkers(): Promise<void> {
  const { curve_bn128 } = globalThis as { curve_bn128?: Curve | null };
  await curve_bn128?.terminate();
}

function toPoints({ pi_a, pi_b, pi_c }: SnarkjsProof): ProofPoints {
  return decodeProof([...pi_a.slice(0, 2), ...pi_b.slice(0, 2).flat(), ...pi_c.slice(0, 2)]);
}
