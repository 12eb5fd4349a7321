/** The reference engine: snarkjs's prover as it is. Slow and dependable, it is what other engines are compared with. */
import { groth16 } from "snarkjs";
import { proverError } from "../errors.ts";
import { decodeProof, type ProofPoints } from "../proof/decode.ts";
import { toWtns } from "../witness/wtns.ts";
import { withWorkers } from "./curve.ts";
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

export function snarkjsEngine({ singleThread = false }: SnarkjsOptions = {}): ProvingEngine {
  return {
    name: "snarkjs",
    async prove(zkey, witness) {
      const run = async (): Promise<ProofPoints> => {
        const { proof } = await groth16.prove(zkey, toWtns(witness), undefined, { singleThread });
        return toPoints(proof as unknown as SnarkjsProof);
      };
      try {
        return await (singleThread ? run() : withWorkers(run));
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw proverError("ENGINE_FAILED", `snarkjs could not prove: ${reason}.`, { reason }, error);
      }
    },
    verify: pairingHolds,
  };
}

function toPoints({ pi_a, pi_b, pi_c }: SnarkjsProof): ProofPoints {
  return decodeProof([...pi_a.slice(0, 2), ...pi_b.slice(0, 2).flat(), ...pi_c.slice(0, 2)]);
}
