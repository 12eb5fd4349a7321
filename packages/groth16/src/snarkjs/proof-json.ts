/** Proofs as snarkjs writes them, and the text of a call of the verifier contract that snarkjs exports. */
import { groth16Error } from "../errors.ts";
import { decodeProof, decodeSignals } from "../proof/decode.ts";

/** A proof in snarkjs's format: affine points with a third coordinate of one, decimal strings. */
export interface Groth16Proof {
  /** A: x, y and "1". */
  pi_a: string[];
  /** B: the two parts of x, of y, and of 1; the part without i first. */
  pi_b: string[][];
  /** C: x, y and "1". */
  pi_c: string[];
  protocol: string;
  /** BN254, under snarkjs's name bn128. */
  curve: string;
}

/** Public signals in the circuit's order: decimal strings below r. */
export type PublicSignals = string[];

/** @param words a.x a.y b.x0 b.x1 b.y0 b.y1 c.x c.y */
export function toProofJson(words: readonly string[]): Groth16Proof {
  const [ax, ay, bx0, bx1, by0, by1, cx, cy] = words as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  return {
    pi_a: [ax, ay, "1"],
    pi_b: [
      [bx0, bx1],
      [by0, by1],
      ["1", "0"],
    ],
    pi_c: [cx, cy, "1"],
    protocol: "groth16",
    curve: "bn128",
  };
}

/**
 * The eight words of a proof in snarkjs's format. `decodeProof` checks them.
 * @throws Groth16Error PROOF_MALFORMED if the value is not such an object or its points are not affine
 */
export function wordsOf(proof: unknown): string[] {
  const { pi_a, pi_b, pi_c } = (proof ?? {}) as Partial<Record<string, unknown>>;
  const b = listOf(pi_b, 3);
  const one = listOf(b[2], 2).map(text);
  const [a, c] = [listOf(pi_a, 3).map(text), listOf(pi_c, 3).map(text)];
  if (a[2] !== "1" || c[2] !== "1" || one[0] !== "1" || one[1] !== "0") throw malformed("its points are not affine");
  return [...a.slice(0, 2), ...b.slice(0, 2).flatMap((pair) => listOf(pair, 2).map(text)), ...c.slice(0, 2)];
}

/** The public signals as texts. @throws Groth16Error SIGNALS_MALFORMED if it is not an array */
export function signalTexts(signals: unknown): string[] {
  if (!Array.isArray(signals))
    throw groth16Error("SIGNALS_MALFORMED", `The public signals must be an array, found ${typeof signals}.`);
  return Array.from(signals, text);
}

/**
 * The arguments of `verifyProof` of the contract that snarkjs exports, as JSON values separated by commas.
 * @throws Groth16Error PROOF_MALFORMED, PROOF_COORDINATE_RANGE, PROOF_NOT_ON_CURVE, PROOF_NOT_IN_SUBGROUP, PROOF_AT_INFINITY,
 *   SIGNALS_MALFORMED, SIGNAL_RANGE
 */
export function toCallData(proof: unknown, publicSignals: unknown): string {
  const { a, b, c } = decodeProof(wordsOf(proof));
  const texts = signalTexts(publicSignals);
  // The precompile of a chain takes the part with i first.
  const points = [pair(a), `[${b.map(([real, imaginary]) => pair([imaginary, real])).join()}]`, pair(c)];
  return [...points, `[${decodeSignals(texts, texts.length).map(hex).join()}]`].join();
}

const hex = (value: bigint): string => `"0x${value.toString(16).padStart(64, "0")}"`;
const pair = (values: readonly bigint[]): string => `[${values.map(hex).join(", ")}]`;

function listOf(value: unknown, length: number): unknown[] {
  if (!Array.isArray(value) || value.length !== length) throw malformed("it is not in snarkjs's format");
  return value;
}

/** Decoding accepts only texts, so that anything else is refused there. */
const text = (value: unknown): string => (typeof value === "bigint" ? String(value) : (value as string));

function malformed(reason: string): Error {
  return groth16Error("PROOF_MALFORMED", `The proof cannot be decoded: ${reason}.`);
}
