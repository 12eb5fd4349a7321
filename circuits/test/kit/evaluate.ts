import { P } from "./field.ts";
import { type R1cs, readField, TERM_BYTES } from "./r1cs.ts";

/**
 * The indices of the constraints (all, or those in `among`) that `witness` does not satisfy. The witness has one value
 * for each wire; wire 0 is 1.
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

/** The terms of all constraints in sequence; the terms of side s (0 to 2) of constraint i end at ends[3 i + s]. */
interface Terms {
  wires: Uint32Array;
  coefficients: bigint[];
  ends: Uint32Array;
}

const known = new WeakMap<R1cs, Terms>();

/** Decoded once, because a circuit is evaluated many times and the tests spend most of their time here. */
function termsOf(r1cs: R1cs): Terms {
  let terms = known.get(r1cs);
  if (terms !== undefined) return terms;
  const { bytes, constraints } = r1cs;
  const wires = new Uint32Array((bytes.length - 12 * constraints) / TERM_BYTES);
  terms = { wires, coefficients: [], ends: new Uint32Array(3 * constraints) };
  for (let position = 0, side = 0; side < 3 * constraints; side++) {
    const last = position + 4 + bytes.readUInt32LE(position) * TERM_BYTES;
    for (position += 4; position < last; position += TERM_BYTES) {
      wires[terms.coefficients.length] = bytes.readUInt32LE(position);
      const coefficient = readField(bytes, position + 4);
      // Most coefficients are 1 or -1, and small ones are fast to multiply.
      terms.coefficients.push(coefficient > P / 2n ? coefficient - P : coefficient);
    }
    terms.ends[side] = terms.coefficients.length;
  }
  known.set(r1cs, terms);
  return terms;
}

/** The values of A, B and C of one constraint, each in (-P, P). */
export function evaluateSides(r1cs: R1cs, witness: readonly bigint[], constraint: number): [bigint, bigint, bigint] {
  const { wires, coefficients, ends } = termsOf(r1cs);
  let term = constraint === 0 ? 0 : (ends[3 * constraint - 1] as number);
  const side = (index: number): bigint => {
    let sum = 0n;
    for (const end = ends[3 * constraint + index] as number; term < end; term++)
      sum += (coefficients[term] as bigint) * (witness[wires[term] as number] as bigint);
    return sum % P;
  };
  return [side(0), side(1), side(2)];
}

/** Every occurrence of a wire, constraint by constraint. */
export function* allTerms(r1cs: R1cs): Generator<[constraint: number, wire: number]> {
  const { wires, ends } = termsOf(r1cs);
  for (let i = 0, term = 0; i < r1cs.constraints; i++)
    for (const end = ends[3 * i + 2] as number; term < end; term++) yield [i, wires[term] as number];
}
