import { createHash } from "node:crypto";
import type { Curve } from "ffjavascript";
import { binFile, uint32 } from "./binfile.ts";
import type { CombPool, Products } from "./comb-pool.ts";
import { type BeaconContribution, contributionSection } from "./contribution.ts";
import { BASE_MODULUS, invert, mod, SCALAR_MODULUS, toBytes } from "./field.ts";
import { lagrangeAt, powersOf } from "./lagrange.ts";
import { evaluateQap, type QapEvaluation, scale } from "./qap.ts";
import { MATRIX, type R1cs } from "./r1cs.ts";
import type { Phase1Secrets } from "./secrets.ts";
import { SIZES, type WasmCurve } from "./wasm-curve.ts";

const GROTH16 = 1;
/** snarkjs hashes H in chunks of 2^14 points; if there are several, it hashes one point past the end. */
const HASH_PIECE = 1 << 14;

export interface Groth16Key {
  /** The zkey file, in parts. */
  file: Uint8Array[];
  /** Points of the verification key, internal form: alpha in G1; beta, gamma and delta in G2; IC in G1. */
  verification: { alpha1: Uint8Array; beta2: Uint8Array; gamma2: Uint8Array; delta2: Uint8Array; ic: Uint8Array[] };
  /** The scalars of IC (wires 0 to publicSignals), 32 bytes each: a forger needs them in addition to the secrets. */
  icScalars: Uint8Array;
}

/**
 * Makes a circuit's proving key from known secrets: byte for byte the file that `snarkjs groth16 setup` with the powers of
 * tau of these secrets, and then `snarkjs zkey beacon`, would write. It is fast because every point is a known scalar times
 * a generator.
 */
export async function makeZkey(
  r1cs: R1cs,
  secrets: Phase1Secrets,
  contribution: BeaconContribution,
  tools: { curve: Curve; wasm: WasmCurve; pool: CombPool },
): Promise<Groth16Key> {
  const { curve, wasm, pool } = tools;
  const qap = evaluateQap(r1cs, secrets, wasm);
  const inverse = invert(contribution.delta);
  const split = (r1cs.publicSignals + 1) * SIZES.scalar;
  const privatePart = qap.combined.subarray(split);
  const { tau } = secrets;
  const oddLagrange = lagrangeAt(tau, r1cs.logDomain + 1, 1, 2).map((value) => mod(value * inverse));
  const g1 = (scalars: Uint8Array, hashed: boolean) => pool.multiply("g1", scalars, hashed);
  const g2 = (scalars: Uint8Array, hashed: boolean) => pool.multiply("g2", scalars, hashed);
  const [head1, head2, ic, cHashed, hHashed, a, b1, b2, c, h] = await Promise.all([
    g1(toBytes([secrets.alpha, secrets.beta, 1n, contribution.delta]), true),
    g2(toBytes([secrets.beta, 1n, contribution.delta]), true),
    g1(qap.combined.subarray(0, split), true),
    g1(privatePart, true),
    g1(toBytes(vanishingPowers(r1cs, tau)), true),
    g1(qap.a, true),
    g1(qap.b, true),
    g2(qap.b, true),
    g1(scale(wasm, privatePart, inverse), false),
    g1(toBytes(oddLagrange), false),
  ]);
  const points1 = pieces(head1.points, SIZES.g1.affine);
  const points2 = pieces(head2.points, SIZES.g2.affine);
  const circuitHash = hashCircuit(r1cs, [head1, head2], { ic, h: hHashed, c: cHashed, a, b1, b2 });
  const [alpha1, beta1, , delta1] = points1 as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  const [beta2, gamma2, delta2] = points2 as [Uint8Array, Uint8Array, Uint8Array];
  const file = binFile("zkey", [
    [1, [uint32(GROTH16)]],
    [2, [...fieldAndSizes(r1cs), alpha1, beta1, beta2, gamma2, delta1, delta2]],
    [3, [ic.points]],
    [4, proverTerms(r1cs, qap)],
    [5, [a.points]],
    [6, [b1.points]],
    [7, [b2.points]],
    [8, [c.points]],
    [9, [h.points]],
    [10, contributionSection(curve, circuitHash, delta1, contribution)],
  ]);
  const verification = { alpha1, beta2, gamma2, delta2, ic: pieces(ic.points, SIZES.g1.affine) };
  return { file, verification, icScalars: qap.combined.subarray(0, split) };
}

const pieces = (bytes: Uint8Array, size: number): Uint8Array[] =>
  Array.from({ length: bytes.byteLength / size }, (_, index) => bytes.subarray(index * size, (index + 1) * size));

/** tau^i * (tau^n - 1): the scalars of H without 1 / delta, as in a phase 1 file. snarkjs hashes H in this form. */
function vanishingPowers({ logDomain }: R1cs, tau: bigint): bigint[] {
  const domain = 1 << logDomain;
  const powers = powersOf(tau, 2 * domain);
  const count = domain > HASH_PIECE ? domain : domain - 1;
  return powers.slice(0, count).map((value, index) => mod(powers[domain + index]! - value));
}

/** The hash that snarkjs prints as "Circuit Hash": of the key without contributions, with delta = 1. */
function hashCircuit(
  { logDomain }: R1cs,
  [head1, head2]: [Products, Products],
  sections: Record<"ic" | "h" | "c" | "a" | "b1" | "b2", Products>,
): Uint8Array {
  const [alpha1, beta1, generator1] = pieces(head1.uncompressed, SIZES.g1.affine);
  const [beta2, generator2] = pieces(head2.uncompressed, SIZES.g2.affine);
  const hash = createHash("blake2b512");
  for (const point of [alpha1, beta1, beta2, generator2, generator1, generator2]) hash.update(point!);
  const list = (points: Uint8Array, count: number) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(count);
    hash.update(length).update(points);
  };
  const { ic, h, c, a, b1, b2 } = sections;
  const counted = (products: Products, size: number) =>
    list(products.uncompressed, products.uncompressed.byteLength / size);
  counted(ic, SIZES.g1.affine);
  list(h.uncompressed, (1 << logDomain) - 1);
  for (const products of [c, a, b1]) counted(products, SIZES.g1.affine);
  counted(b2, SIZES.g2.affine);
  return hash.digest();
}

function fieldAndSizes(r1cs: R1cs): Uint8Array[] {
  const size = uint32(SIZES.scalar);
  const counts = uint32(r1cs.wires, r1cs.publicSignals, 1 << r1cs.logDomain);
  return [size, toBytes([BASE_MODULUS]), size, toBytes([SCALAR_MODULUS]), counts];
}

/** Section 4: matrix, row, wire and coefficient of A and B, and A's extra rows for the public wires. */
function proverTerms(r1cs: R1cs, { proverCoefficients }: QapEvaluation): Uint8Array[] {
  const radixSquared = toBytes([mod((1n << 512n) % SCALAR_MODULUS)]);
  const used = r1cs.matrices.reduce((count, matrix) => count + (matrix === MATRIX.c ? 0 : 1), 0);
  const total = used + r1cs.publicSignals + 1;
  const record = 12 + SIZES.scalar;
  const terms = Buffer.alloc(total * record);
  let at = 0;
  const write = (matrix: number, row: number, wire: number, coefficient: Uint8Array) => {
    terms.writeUInt32LE(matrix, at);
    terms.writeUInt32LE(row, at + 4);
    terms.writeUInt32LE(wire, at + 8);
    terms.set(coefficient, at + 12);
    at += record;
  };
  r1cs.matrices.forEach((matrix, entry) => {
    if (matrix === MATRIX.c) return;
    const coefficient = proverCoefficients.subarray(entry * SIZES.scalar, (entry + 1) * SIZES.scalar);
    write(matrix, r1cs.constraintIndices[entry]!, r1cs.wireIndices[entry]!, coefficient);
  });
  for (let wire = 0; wire <= r1cs.publicSignals; wire++) write(MATRIX.a, r1cs.constraints + wire, wire, radixSquared);
  return [uint32(total), terms];
}
