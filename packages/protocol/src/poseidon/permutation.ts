import { fieldEngine } from "../wasm/engine.ts";
import { permuteWithBigInts } from "./permute-bigint.ts";
import { permuteWithWasm } from "./permute-wasm.ts";

/** The first `outputs` lanes of the Poseidon permutation of `state`: 2 to 17 canonical lanes, capacity first. */
export function permute(state: readonly bigint[], outputs: number): bigint[] {
  const engine = fieldEngine();
  return engine === null ? permuteWithBigInts(state, outputs) : permuteWithWasm(engine, state, outputs);
}

/** The first `outputs` lanes of the Poseidon permutation of each state; all states have the same number of lanes. */
export type PermuteMany = (states: readonly (readonly bigint[])[], outputs: number) => readonly (readonly bigint[])[];

/** The `PermuteMany` that runs everywhere. */
export const permuteMany: PermuteMany = (states, outputs) => states.map((state) => permute(state, outputs));
