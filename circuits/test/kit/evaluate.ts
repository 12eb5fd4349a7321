import { P } from "@sotto/certify/check/field";
import { type R1cs, readField, TERM_BYTES } from "@sotto/certify/check/r1cs";

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
    if (!isProduct(a, b, c)) broken.push(i);
  }
  return broken;
}

/** Whether a b = c in the field, for values in [-2 P, 2 P]. */
const isProduct = (a: bigint, b: bigint, c: bigint): boolean => (a === 0n || b === 0n ? c : a * b - c) % P === 0n;

/** The terms of all constraints in sequence; the terms of side s (0 to 2) of constraint i end at ends[3 i + s]. */
interface Terms {
  wires: Uint32Array;
  coefficients: bigint[];
  /** 1 or -1 if the coefficient is, otherwise 0: most are, and adding is faster than multiplying. */
  signs: Int8Array;
  ends: Uint32Array;
}

const known = new WeakMap<R1cs, Terms>();

/** Decoded once, because a circuit is evaluated many times and the tests spend most of their time here. */
function termsOf(r1cs: R1cs): Terms {
  let terms = known.get(r1cs);
  if (terms !== undefined) return terms;
  const { bytes, constraints } = r1cs;
  const wires = new Uint32Array((bytes.length - 12 * constraints) / TERM_BYTES);
  const signs = new Int8Array(wires.length);
  terms = { wires, coefficients: [], signs, ends: new Uint32Array(3 * constraints) };
  for (let position = 0, side = 0; side < 3 * constraints; side++) {
    const last = position + 4 + bytes.readUInt32LE(position) * TERM_BYTES;
    for (position += 4; position < last; position += TERM_BYTES) {
      wires[terms.coefficients.length] = bytes.readUInt32LE(position);
      const value = readField(bytes, position + 4);
      // Small values are fast to multiply.
      const coefficient = value > P / 2n ? value - P : value;
      if (coefficient === 1n || coefficient === -1n) signs[terms.coefficients.length] = Number(coefficient);
      terms.coefficients.push(coefficient);
    }
    terms.ends[side] = terms.coefficients.length;
  }
  known.set(r1cs, terms);
  return terms;
}

/** The values of A, B and C of one constraint, each in (-P, P). */
export function evaluateSides(r1cs: R1cs, witness: readonly bigint[], constraint: number): [bigint, bigint, bigint] {
  const { wires, coefficients, signs, ends } = termsOf(r1cs);
  let term = constraint === 0 ? 0 : (ends[3 * constraint - 1] as number);
  const side = (index: number): bigint => {
    let sum = 0n;
    for (const end = ends[3 * constraint + index] as number; term < end; term++) {
      const value = witness[wires[term] as number] as bigint;
      const sign = signs[term];
      if (sign === 1) sum += value;
      else if (sign === -1) sum -= value;
      else sum += (coefficients[term] as bigint) * value;
    }
    return sum % P;
  };
  return [side(0), side(1), side(2)];
}

/** The wires of one constraint with their coefficients in A, B and C. */
export function coefficientsOf(r1cs: R1cs, constraint: number): Map<number, [bigint, bigint, bigint]> {
  const { wires, coefficients, ends } = termsOf(r1cs);
  const found = new Map<number, [bigint, bigint, bigint]>();
  let term = constraint === 0 ? 0 : (ends[3 * constraint - 1] as number);
  for (const side of [0, 1, 2] as const)
    for (const end = ends[3 * constraint + side] as number; term < end; term++) {
      const wire = wires[term] as number;
      const known = found.get(wire) ?? [0n, 0n, 0n];
      known[side] += coefficients[term] as bigint;
      found.set(wire, known);
    }
  return found;
}

/** The wires whose value can be replaced by value + 1 without breaking a constraint. The witness breaks none. */
export function looseWires(r1cs: R1cs, witness: readonly bigint[]): number[] {
  const bound = new Uint8Array(r1cs.wires).fill(1, 0, 1);
  for (let i = 0; i < r1cs.constraints; i++) {
    const [a, b, c] = evaluateSides(r1cs, witness, i);
    for (const [wire, [inA, inB, inC]] of coefficientsOf(r1cs, i))
      if (bound[wire] === 0 && !isProduct(a + inA, b + inB, c + inC)) bound[wire] = 1;
  }
  return [...bound.keys()].filter((wire) => bound[wire] === 0);
}
