import { fieldEngine } from "../wasm/engine.ts";
import { permuteWithBigInts } from "./permute-bigint.ts";
import { permuteWithWasm } from "./permute-wasm.ts";

/** The first `outputs` lanes of the Poseidon permutation of `state`: 2 to 17 canonical lanes, capacity first. */
export function permute(state: readonly bigint[], outputs: number): bigint[] {
  const engine = fieldEngine();
  return engine === null ? permuteWithBigInts(state, outputs) : permuteWithWasm(engine, state, outputs);
}
