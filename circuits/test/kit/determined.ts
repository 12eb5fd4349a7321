import { P } from "@sotto/certify/check/field";
import type { R1cs } from "@sotto/certify/check/r1cs";
import { coefficientsOf, evaluateSides } from "./evaluate.ts";

/**
 * Returns the wires whose value the inputs do not determine: those that remain open after every constraint with one
 * open wire has determined that wire. A constraint determines a wire if its derivative with respect to that wire is not
 * 0 at this witness. Near this witness, the wire then has no freedom, only other isolated values (another root of b^2 =
 * b or t^2 = v^2, which the attacks cover). A missing constraint shows up as an open wire, regardless of which false
 * claim it would allow. Use it for circuits compiled without simplification, because after simplification two wires can
 * determine each other.
 */
export function openWires(r1cs: R1cs, witness: readonly bigint[]): number[] {
  const inputs = r1cs.publicOutputs + r1cs.publicInputs + r1cs.privateInputs;
  const settled = new Uint8Array(r1cs.wires).fill(1, 0, inputs + 1);
  const open: Set<number>[] = [];
  const uses = Array.from({ length: r1cs.wires }, (): number[] => []);
  for (let i = 0; i < r1cs.constraints; i++) {
    open.push(new Set([...coefficientsOf(r1cs, i).keys()].filter((wire) => settled[wire] === 0)));
    for (const wire of open[i] as Set<number>) (uses[wire] as number[]).push(i);
  }
  const queue = [...open.keys()].filter((i) => open[i]?.size === 1);
  for (let i = queue.pop(); i !== undefined; i = queue.pop()) {
    const [wire] = open[i] as Set<number>;
    if (wire === undefined || derivative(r1cs, witness, i, wire) === 0n) continue;
    settled[wire] = 1;
    for (const use of uses[wire] as number[]) {
      const left = open[use] as Set<number>;
      left.delete(wire);
      if (left.size === 1) queue.push(use);
    }
  }
  return [...settled.keys()].filter((wire) => settled[wire] === 0 && (uses[wire] as number[]).length > 0);
}

/** The derivative of A B - C with respect to one wire. */
function derivative(r1cs: R1cs, witness: readonly bigint[], constraint: number, wire: number): bigint {
  const [a, b] = evaluateSides(r1cs, witness, constraint);
  const [inA, inB, inC] = coefficientsOf(r1cs, constraint).get(wire) as [bigint, bigint, bigint];
  return (inA * b + inB * a - inC) % P;
}
