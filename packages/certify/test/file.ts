import type { Constraint } from "./random-circuit.ts";

const FIELD_BYTES = 32;

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

const element = (value: bigint): Buffer =>
  Buffer.from(value.toString(16).padStart(2 * FIELD_BYTES, "0"), "hex").reverse();

/** The .r1cs file of constraints over the field of `prime`. It counts no signal as an input or output. */
export function fileOf(
  { wires, constraints }: { readonly wires: number; readonly constraints: readonly Constraint[] },
  prime: number,
): Buffer {
  const header = [word(FIELD_BYTES), element(BigInt(prime)), word(wires), Buffer.alloc(20), word(constraints.length)];
  const body = constraints.flat().flatMap((side) => {
    const terms = Object.entries(side);
    return [word(terms.length), ...terms.flatMap(([wire, value]) => [word(Number(wire)), element(value)])];
  });
  const sections = [header, body].map((parts, i) => {
    const bytes = Buffer.concat(parts);
    return Buffer.concat([word(i + 1), word(bytes.length), word(0), bytes]);
  });
  return Buffer.concat([Buffer.from("r1cs"), word(1), word(2), ...sections]);
}
