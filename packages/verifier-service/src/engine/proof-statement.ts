import type { ProofPoints } from "@sotto/groth16";

/** One proof to verify, decoded: coordinates below q, points on their curves and not at infinity, signals below r. */
export interface Statement {
  /** Index of the circuit's key. */
  readonly key: number;
  readonly points: ProofPoints;
  readonly signals: readonly bigint[];
}

export const PROOF_RESULT = { false: 0, true: 1, notInSubgroup: 2 } as const;
export type ProofResult = (typeof PROOF_RESULT)[keyof typeof PROOF_RESULT];
