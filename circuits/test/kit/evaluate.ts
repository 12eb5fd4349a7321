import { P } from "./field.ts";
import { type R1cs, readField, TERM_BYTES } from "./r1cs.ts";

/**
 * The indices of the constraints (of all, or of `among`) that `witness` does not satisfy: one value for each wire, wire
 * 0 is 1.
 */
export function violations(r1cs: R1cs, witness: readonly bigint[], among?: readonly number[]): number[] {
  if (witness.length !== r1cs.wires) throw new Error(`${witness.length} values for ${r1cs.wires} wires`);
  if (witness[0] !== 1n) throw new Error("wire 0 must be 1");
  const broken: number[] = [];
  for (const i of among ?? Array(r1cs.constraints).keys()) {
    const [a, b, c] = evaluateSides(r1cs, witness, i);
    if ((a * b - c) % P !== 0n) broken.push(i);
  }
  return broken;
}

/** The values of A, B and C of one constraint. Reads the bytes in place: this is where the time of the tests goes. */
export function evaluateSides(
  { bytes, offsets }: R1cs,
  witness: readonly bigint[],
  constraint: number,
): [bigint, bigint, bigint] {
  let position = offsets[constraint] as number;
  const side = (): bigint => {
    let sum = 0n;
    const terms = bytes.readUInt32LE(position);
    position += 4;
    for (let i = 0; i < terms; i++, position += TERM_BYTES)
      sum += readField(bytes, position + 4) * (witness[bytes.readUInt32LE(position)] as bigint);
    return sum % P;
  };
  return [side(), side(), side()];
}

/** Every place a wire has in a constraint, constraint by constraint. */
export function* allTerms(r1cs: R1cs): Generator<[constraint: number, wire: number]> {
  for (let i = 0; i < r1cs.constraints; i++)
    for (let position = r1cs.offsets[i] as number; position < (r1cs.offsets[i + 1] as number); ) {
      const end = position + 4 + r1cs.bytes.readUInt32LE(position) * TERM_BYTES;
      for (position += 4; position < end; position += TERM_BYTES) yield [i, r1cs.bytes.readUInt32LE(position)];
    }
}
