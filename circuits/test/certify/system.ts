import type { System } from "../../../scripts/certify/r1cs.ts";
import { mod } from "../kit/field.ts";

/** A side of a constraint: coefficients by wire; wire 0 is the constant 1. */
export type Side = Readonly<Record<number, bigint>>;

/** A system written by hand. Wires 1 to `inputs` are private inputs. */
export function systemOf(wires: number, inputs: number, constraints: readonly (readonly [Side, Side, Side])[]): System {
  const [start, terms, coefficients, values]: [number[], number[], number[], bigint[]] = [[0], [], [], []];
  for (const sides of constraints)
    for (const side of sides) {
      for (const [wire, value] of Object.entries(side)) {
        terms.push(Number(wire));
        coefficients.push(values.push(mod(value)) - 1);
      }
      start.push(terms.length);
    }
  return {
    wires,
    constraints: constraints.length,
    outputs: 0,
    publicInputs: 0,
    inputs,
    start: Uint32Array.from(start),
    terms: Uint32Array.from(terms),
    coefficients: Uint32Array.from(coefficients),
    values,
    labels: Uint32Array.from({ length: wires }, (_, wire) => wire),
  };
}
