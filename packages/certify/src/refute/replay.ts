/**
 * Checks two witnesses against an .r1cs file. It shares no code with the search: the second checker's reader says what the
 * constraints, inputs and outputs are. A verdict "refuted" rests on this file alone.
 */
import type { Theorem } from "../replay/certificate.ts";
import { P } from "../replay/field.ts";
import { inputWires, parseR1cs, type R1cs, sidesOf, type Term } from "../replay/r1cs.ts";

type Witness = readonly bigint[];

/** Why a witness does not satisfy the constraints; undefined if it does. */
function checkWitness(r1cs: R1cs, witness: Witness): string | undefined {
  const { wires, constraints } = r1cs;
  if (witness.length !== wires) return `the witness has ${witness.length} values, expected ${wires}`;
  if (witness[0] !== 1n) return "wire 0 is not 1";
  const outside = witness.findIndex((value) => value < 0n || value >= P);
  if (outside >= 0) return `the value of wire ${outside} is not a number of the field`;
  const sum = (terms: readonly Term[]) =>
    terms.reduce((total, [wire, coefficient]) => total + coefficient * (witness[wire] as bigint), 0n);
  for (let constraint = 0; constraint < constraints; constraint++) {
    const [a, b, c] = sidesOf(r1cs, constraint);
    if ((sum(a) * sum(b) - sum(c)) % P !== 0n) return `constraint ${constraint} is not satisfied`;
  }
  return undefined;
}

/** Why two witnesses of an .r1cs file do not refute a theorem about it; undefined if they refute it. */
export function checkRefutation(
  file: Buffer,
  theorem: Theorem,
  witnesses: readonly [Witness, Witness],
): string | undefined {
  const r1cs = parseR1cs(file, "the r1cs file");
  for (const [index, witness] of witnesses.entries()) {
    const problem = checkWitness(r1cs, witness);
    if (problem !== undefined) return `witness ${index + 1}: ${problem}`;
  }
  const { wires, publicOutputs, publicInputs } = r1cs;
  const differs = (wire: number) => witnesses[0][wire] !== witnesses[1][wire];
  const changed = inputWires(r1cs).find(
    (wire) => (theorem !== "strong" || wire <= publicOutputs + publicInputs) && differs(wire),
  );
  if (changed !== undefined) return `the witnesses differ in wire ${changed}, which is given`;
  // Which wires are inputs and outputs of components, only the sources say.
  const claimed = theorem === "wires" || theorem === "ports" ? wires - 1 : publicOutputs;
  return Array.from({ length: claimed }, (_, i) => 1 + i).some(differs)
    ? undefined
    : "the witnesses agree on every wire that should be determined";
}
