/**
 * Strict decoding of proofs and signals of another party, before any pairing. Most verifiers reduce coordinates mod q and
 * signals mod r, and do not check that B is in the subgroup. One proof then has many encodings, and Groth16's soundness
 * proof does not apply to points of another order. Here each value has exactly one accepted encoding.
 */
import { curveNow } from "../curve.ts";
import { groth16Error } from "../errors.ts";
import { BASE_FIELD_ORDER, SCALAR_FIELD_ORDER } from "./orders.ts";

/**
 * Points in the order of the eight words: a.x a.y b.x0 b.x1 b.y0 b.y1 c.x c.y, with x = x0 + x1·i (snarkjs's order).
 */
export interface ProofPoints {
  /** A in G1: [x, y]. */
  readonly a: readonly [bigint, bigint];
  /** B in G2: [[x0, x1], [y0, y1]]. */
  readonly b: readonly [readonly [bigint, bigint], readonly [bigint, bigint]];
  /** C in G1: [x, y]. */
  readonly c: readonly [bigint, bigint];
}

export const PROOF_WORDS = 8;
const WORD_NAMES = ["a.x", "a.y", "b.x0", "b.x1", "b.y0", "b.y1", "c.x", "c.y"] as const;
/** q and r have 77 digits. Leading zeros are rejected, so that every number has one spelling. */
const CANONICAL_DECIMAL = /^(?:0|[1-9][0-9]{0,76})$/;

/**
 * Decodes the eight words of a proof.
 * @throws Groth16Error PROOF_MALFORMED, PROOF_COORDINATE_RANGE, PROOF_AT_INFINITY, PROOF_NOT_ON_CURVE, PROOF_NOT_IN_SUBGROUP;
 *   the message names the word or the point
 */
export function decodeProof(proof: readonly string[]): ProofPoints {
  const points = decodeProofOnCurves(proof);
  assertInSubgroup("b", ...points.b);
  return points;
}

/**
 * `decodeProof` without its last check, that B is in the subgroup. Unsound on its own: the caller must do that check,
 * possibly in a faster way, and throw `notInSubgroup("b")` if it fails.
 */
export function decodeProofOnCurves(proof: readonly string[]): ProofPoints {
  if (!Array.isArray(proof) || proof.length !== PROOF_WORDS) {
    const found = Array.isArray(proof) ? proof.length : typeof proof;
    throw groth16Error("PROOF_MALFORMED", `A proof is ${PROOF_WORDS} decimal strings, found ${found}.`, { found });
  }
  const points = toProofPoints(Array.from(proof, decodeCoordinate));
  assertG1("a", ...points.a);
  assertTwist("b", ...points.b);
  assertG1("c", ...points.c);
  return points;
}

/** @param coordinates eight, in the order of the words */
export function toProofPoints(coordinates: readonly bigint[]): ProofPoints {
  const pair = (i: number) => coordinates.slice(i, i + 2) as [bigint, bigint];
  return { a: pair(0), b: [pair(2), pair(4)], c: pair(6) };
}

/**
 * Reads public signals: decimal strings of field elements.
 * @param count number of the circuit's public signals
 * @throws Groth16Error SIGNALS_MALFORMED, SIGNAL_RANGE
 */
export function decodeSignals(signals: readonly string[], count: number): bigint[] {
  if (!Array.isArray(signals) || signals.length !== count) {
    const found = Array.isArray(signals) ? signals.length : typeof signals;
    const message = `This circuit has ${count} public signals, found ${found}.`;
    throw groth16Error("SIGNALS_MALFORMED", message, { expected: count, found });
  }
  return Array.from(signals, (word: unknown, index) => {
    if (typeof word !== "string" || !CANONICAL_DECIMAL.test(word)) {
      const message = `Public signal ${index} is not a decimal string without leading zeros.`;
      throw groth16Error("SIGNALS_MALFORMED", message, { index });
    }
    const value = BigInt(word);
    if (value >= SCALAR_FIELD_ORDER)
      throw groth16Error("SIGNAL_RANGE", `Public signal ${index} is not below the scalar field's order.`, { index });
    return value;
  });
}

/** The eight words of a proof, the inverse of `decodeProof`. */
export function encodeProof({ a, b, c }: ProofPoints): string[] {
  return [...a, ...b[0], ...b[1], ...c].map(String);
}

/**
 * Checks a point of a proof or a verification key. Rejects infinity, which is (0, 0) as in EIP-197: honest proofs and
 * keys never contain it.
 */
export function assertG1(point: string, x: bigint, y: bigint): void {
  if (x === 0n && y === 0n) throw groth16Error("PROOF_AT_INFINITY", `Point ${point} is at infinity.`, { point });
  // The curve's order is the group's order, so every point of the curve is in the group.
  if ((y * y - x * x * x - 3n) % BASE_FIELD_ORDER !== 0n) throw notOnCurve(point);
}

export function assertG2(point: string, x: readonly [bigint, bigint], y: readonly [bigint, bigint]): void {
  assertTwist(point, x, y);
  assertInSubgroup(point, x, y);
}

function assertTwist(point: string, x: readonly [bigint, bigint], y: readonly [bigint, bigint]): void {
  if (x[0] === 0n && x[1] === 0n && y[0] === 0n && y[1] === 0n)
    throw groth16Error("PROOF_AT_INFINITY", `Point ${point} is at infinity.`, { point });
  if (!curveNow().G2.isOnCurve([...x, ...y])) throw notOnCurve(point);
}

function assertInSubgroup(point: string, x: readonly [bigint, bigint], y: readonly [bigint, bigint]): void {
  if (!curveNow().G2.hasOrderR([...x, ...y])) throw notInSubgroup(point);
}

/** A Groth16Error with the code PROOF_NOT_IN_SUBGROUP. */
export function notInSubgroup(point: string): Error {
  return groth16Error("PROOF_NOT_IN_SUBGROUP", `Point ${point} is not in the subgroup of order r.`, { point });
}

function decodeCoordinate(word: unknown, index: number): bigint {
  const name = WORD_NAMES[index] ?? String(index);
  if (typeof word !== "string" || !CANONICAL_DECIMAL.test(word))
    throw groth16Error("PROOF_MALFORMED", `Word ${name} is not a decimal string without leading zeros.`, {
      word: name,
    });
  const value = BigInt(word);
  if (value >= BASE_FIELD_ORDER)
    throw groth16Error("PROOF_COORDINATE_RANGE", `Word ${name} is not below the base field's order.`, { word: name });
  return value;
}

function notOnCurve(point: string): Error {
  return groth16Error("PROOF_NOT_ON_CURVE", `Point ${point} is not on the curve.`, { point });
}
