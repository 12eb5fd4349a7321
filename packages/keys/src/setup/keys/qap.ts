import { mod, toBytes } from "./field.ts";
import { lagrangeAt } from "./lagrange.ts";
import { MATRIX, type R1cs } from "./r1cs.ts";
import type { Phase1Secrets } from "./secrets.ts";
import { SIZES, type WasmCurve } from "./wasm-curve.ts";

const SIZE = SIZES.scalar;

/** A circuit's polynomials at tau, 32 bytes little-endian for each wire. */
export interface QapEvaluation {
  /** A_i(tau) and B_i(tau). */
  a: Uint8Array<ArrayBuffer>;
  b: Uint8Array<ArrayBuffer>;
  /**
   * beta * A_i(tau) + alpha * B_i(tau) + C_i(tau): the scalars of IC (public wires), and of C times delta (private wires).
   */
  combined: Uint8Array<ArrayBuffer>;
  /** The coefficients of A and B in the form that provers read: multiplied by R^2, with the Montgomery radix R = 2^256. */
  proverCoefficients: Uint8Array<ArrayBuffer>;
}

/**
 * Evaluates the quadratic arithmetic program of an r1cs at tau. As in every circom and snarkjs key, A gets an extra row for
 * the constant and each public wire, so that no public input can be moved into the private part.
 */
export function evaluateQap(r1cs: R1cs, secrets: Phase1Secrets, curve: WasmCurve): QapEvaluation {
  const mark = curve.mark();
  const [multiply, add] = [curve.function("frm_mul"), curve.function("frm_add")];
  const toMontgomery = curve.function("frm_batchToMontgomery");
  const entries = r1cs.matrices.length;
  const lagrange = curve.place(toBytes(lagrangeAt(secrets.tau, r1cs.logDomain)));
  const domain = 1 << r1cs.logDomain;
  const coefficients = curve.place(r1cs.coefficients);
  const sums = curve.allocate(3 * r1cs.wires * SIZE);
  const term = curve.allocate(SIZE);
  // One factor is in Montgomery form and one is not, so the product is in plain form, the form in which scalars are
  // stored.
  toMontgomery(lagrange, domain, lagrange);
  for (let entry = 0; entry < entries; entry++) {
    multiply(coefficients + entry * SIZE, lagrange + r1cs.constraintIndices[entry]! * SIZE, term);
    const sum = sums + (r1cs.matrices[entry]! * r1cs.wires + r1cs.wireIndices[entry]!) * SIZE;
    add(sum, term, sum);
  }
  const one = curve.place(toBytes([1n]));
  for (let wire = 0; wire <= r1cs.publicSignals; wire++) {
    multiply(one, lagrange + (r1cs.constraints + wire) * SIZE, term);
    add(sums + wire * SIZE, term, sums + wire * SIZE);
  }
  const column = (matrix: number) => sums + matrix * r1cs.wires * SIZE;
  const combined = combine(curve, r1cs.wires, column, secrets);
  toMontgomery(coefficients, entries, coefficients);
  toMontgomery(coefficients, entries, coefficients);
  const evaluation = {
    a: curve.read(column(MATRIX.a), r1cs.wires * SIZE),
    b: curve.read(column(MATRIX.b), r1cs.wires * SIZE),
    combined: curve.read(combined, r1cs.wires * SIZE),
    proverCoefficients: curve.read(coefficients, entries * SIZE),
  };
  curve.release(mark);
  return evaluation;
}

function combine(curve: WasmCurve, wires: number, column: (matrix: number) => number, secrets: Phase1Secrets): number {
  const [multiply, add] = [curve.function("frm_mul"), curve.function("frm_add")];
  const beta = montgomery(curve, secrets.beta);
  const alpha = montgomery(curve, secrets.alpha);
  const term = curve.allocate(SIZE);
  const combined = curve.allocate(wires * SIZE);
  for (let offset = 0; offset < wires * SIZE; offset += SIZE) {
    multiply(column(MATRIX.a) + offset, beta, combined + offset);
    multiply(column(MATRIX.b) + offset, alpha, term);
    add(combined + offset, term, combined + offset);
    add(combined + offset, column(MATRIX.c) + offset, combined + offset);
  }
  return combined;
}

function montgomery(curve: WasmCurve, value: bigint): number {
  const pointer = curve.place(toBytes([mod(value)]));
  curve.function("frm_toMontgomery")(pointer, pointer);
  return pointer;
}

/** Multiplies every scalar of a list by a factor. */
export function scale(curve: WasmCurve, scalars: Uint8Array, factor: bigint): Uint8Array<ArrayBuffer> {
  const mark = curve.mark();
  const multiply = curve.function("frm_mul");
  const pointer = curve.place(scalars);
  const multiplier = montgomery(curve, factor);
  for (let offset = 0; offset < scalars.byteLength; offset += SIZE)
    multiply(pointer + offset, multiplier, pointer + offset);
  const scaled = curve.read(pointer, scalars.byteLength);
  curve.release(mark);
  return scaled;
}
