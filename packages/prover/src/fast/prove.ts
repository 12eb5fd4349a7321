/** Groth16's prover (eprint 2016/260, section 3.2) on the kernels. */
import type { Curve, Point } from "../curve.ts";
import type { ProofPoints } from "../proof/decode.ts";
import { SCALAR_FIELD_ORDER } from "../proof/orders.ts";
import type { Witness } from "../witness/calculator.ts";
import { toDigits } from "./digits.ts";
import type { Degree } from "./layout.ts";
import { multiplyMany, type Task } from "./msm.ts";
import type { Part, Sums } from "./parts.ts";
import { type Coordinates, isInfinity, readPoint } from "./points.ts";
import type { ProvingKey } from "./proving-key.ts";
import { quotientScalars } from "./quotient.ts";
import type { Zkey } from "./zkey.ts";

/** A sum of bases times scalars, not added up yet: about 250 terms, each 2^position times a point. */
export type PartialSums = {
  readonly [part in Part]?: readonly { readonly position: number; readonly point: Coordinates }[];
};

/**
 * The sums of the parts for which the key was prepared. Synchronous, so that two proofs with one key cannot interfere.
 *
 * @param parts only these parts; default: all
 */
export function sumParts(key: ProvingKey, witness: Witness, parts?: readonly Part[]): PartialSums {
  const kernel = key.curve;
  const mark = kernel.mark();
  const digits = toDigits(new Uint32Array(witness.slice().buffer));
  const bases = Object.entries(key.bases).filter(([part]) => parts?.includes(part as Part) ?? true);
  const tasks = bases.map(([part, { points, indices }]) => {
    const own = part === "h" && key.quotient !== undefined ? toDigits(quotientScalars(key.quotient, witness)) : digits;
    return { part: part as Part, task: { points, indices, digits: own } };
  });
  const sums: { -readonly [part in Part]?: PartialSums[part] } = {};
  for (const degree of [1, 2] as const) {
    const own = tasks.filter(({ part }) => (part === "b2") === (degree === 2));
    const results = multiplyMany(
      kernel,
      degree,
      own.map(({ task }): Task => task),
    );
    for (const [index, { part }] of own.entries()) {
      sums[part] = (results[index] ?? []).map(({ position, address }) => {
        return { position, point: readPoint(kernel, degree, address) };
      });
    }
  }
  kernel.wipe(mark);
  return sums;
}

export function addUp(curve: Curve, partialSums: PartialSums): Sums {
  return Object.fromEntries(
    Object.entries(partialSums).map(([part, own]) => [part, addUpOne(curve, part === "b2" ? 2 : 1, own)]),
  );
}

/** The proof, blinded by fresh r and s. */
export function assembleProof(zkey: Zkey, { G1, G2 }: Curve, { a, b1, b2, c, h }: Required<Sums>): ProofPoints {
  const [alpha1, beta1, delta1] = [zkey.alpha1, zkey.beta1, zkey.delta1].map(G1.fromFile) as [Point, Point, Point];
  const [beta2, delta2] = [zkey.beta2, zkey.delta2].map(G2.fromFile) as [Point, Point];
  const [r, s] = [randomScalar(), randomScalar()];
  const proofA = G1.add(G1.add(a, alpha1), G1.multiply(delta1, r));
  const proofB = G2.add(G2.add(b2, beta2), G2.multiply(delta2, s));
  const proofB1 = G1.add(G1.add(b1, beta1), G1.multiply(delta1, s));
  const minusRs = SCALAR_FIELD_ORDER - ((r * s) % SCALAR_FIELD_ORDER);
  const blinding = [G1.multiply(proofA, s), G1.multiply(proofB1, r), G1.multiply(delta1, minusRs)];
  const proofC = blinding.reduce((sum, term) => G1.add(sum, term), G1.add(c, h));
  return toProofPoints({ G1, G2 }, proofA, proofB, proofC);
}

export function toProofPoints({ G1, G2 }: Pick<Curve, "G1" | "G2">, a: Point, b: Point, c: Point): ProofPoints {
  const [ax, ay] = G1.toCoordinates(a) as [bigint, bigint];
  const [bx0, bx1, by0, by1] = G2.toCoordinates(b) as [bigint, bigint, bigint, bigint];
  const [cx, cy] = G1.toCoordinates(c) as [bigint, bigint];
  return {
    a: [ax, ay],
    b: [
      [bx0, bx1],
      [by0, by1],
    ],
    c: [cx, cy],
  };
}

/** Adds up the terms from the highest position down, with doublings in between. */
function addUpOne({ G1, G2 }: Curve, degree: Degree, terms: NonNullable<PartialSums[Part]>): Point {
  const group = degree === 1 ? G1 : G2;
  const sorted = terms.toSorted((left, right) => right.position - left.position);
  let [sum, position] = [group.zero, sorted[0]?.position ?? 0];
  for (const term of sorted) {
    for (; position > term.position; position--) sum = group.double(sum);
    if (isInfinity(term.point)) continue;
    sum = group.add(sum, group.fromCoordinates(term.point));
  }
  for (; position > 0; position--) sum = group.double(sum);
  return sum;
}

/** Uniform below r up to 2^-258: 64 random bytes. */
export function randomScalar(): bigint {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(64));
  return bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n) % SCALAR_FIELD_ORDER;
}
