import type { System } from "../src/r1cs.ts";
import { type R1cs, TERM_BYTES } from "../src/replay/r1cs.ts";

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
