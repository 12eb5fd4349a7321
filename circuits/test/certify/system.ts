import type { System } from "@sotto/certify/r1cs";
import { mod } from "@sotto/certify/replay/field";
import { type R1cs, TERM_BYTES } from "@sotto/certify/replay/r1cs";

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

/** The same system as the second checker reads it. */
export function r1csOf({ wires, constraints, inputs, start, terms, coefficients, values, labels }: System): R1cs {
  const parts: Buffer[] = [];
  const offsets = new Uint32Array(constraints + 1);
  for (let side = 0, position = 0; side < 3 * constraints; side++) {
    const [first, last] = [start[side] as number, start[side + 1] as number];
    const part = Buffer.alloc(4 + (last - first) * TERM_BYTES);
    part.writeUInt32LE(last - first);
    for (let term = first; term < last; term++) {
      const at = 4 + (term - first) * TERM_BYTES;
      const value = values[coefficients[term] as number] as bigint;
      part.writeUInt32LE(terms[term] as number, at);
      for (let word = 0; word < 4; word++)
        part.writeBigUInt64LE(BigInt.asUintN(64, value >> BigInt(64 * word)), at + 4 + 8 * word);
    }
    parts.push(part);
    position += part.length;
    if (side % 3 === 2) offsets[(side + 1) / 3] = position;
  }
  return {
    wires,
    constraints,
    publicOutputs: 0,
    publicInputs: 0,
    privateInputs: inputs,
    labels: wires,
    bytes: Buffer.concat(parts),
    offsets,
    wireLabels: labels,
  };
}
