/** Groth16's prover (eprint 2016/260, section 3.2) on the kernels. */
import type { Curve, Point, Term } from "../curve.ts";
import { type ProofPoints, toProofPoints } from "../proof/decode.ts";
import { SCALAR_FIELD_ORDER } from "../proof/orders.ts";
import { type Digits, toDigits } from "./digits.ts";
import { multiply, type Share } from "./msm.ts";
import type { Part, Sums, Witness } from "./parts.ts";
import type { Bases, ProvingKey } from "./proving-key.ts";
import { quotientScalars } from "./quotient.ts";
import type { Zkey } from "./zkey.ts";

/** Sums of bases times scalars, each as terms that are not added up yet. */
export type PartialSums = { readonly [part in Part]?: readonly Term[] };

/**
 * The sums of the parts for which the key was prepared: first those in G1, then b2. Synchronous, so that two proofs with one
 * key cannot interfere: the caller takes all before anything else happens.
 * @param parts only these parts
 * @param share the part of b2 that this thread sums; another thread sums the rest
 */
export function* sumParts(
  key: ProvingKey,
  witness: Witness,
  parts: readonly Part[],
  share?: Share,
): Generator<PartialSums, void> {
  const kernel = key.curve;
  const mark = kernel.markSecrets();
  let quotient: Uint8Array | undefined;
  try {
    const own = parts.filter((part) => key.bases[part] !== undefined);
    const ofWitness = own.some((part) => part !== "h") ? toDigits(kernel, witness) : undefined;
    if (own.includes("h") && key.quotient !== undefined) quotient = quotientScalars(key.quotient, witness);
    const ofQuotient = quotient === undefined ? undefined : toDigits(kernel, quotient);
    for (const degree of [1, 2] as const) {
      const group = own.filter((part) => (part === "b2") === (degree === 2));
      yield Object.fromEntries(
        group.map((part) => {
          const digits = (part === "h" ? ofQuotient : ofWitness) as Digits;
          const task = { ...(key.bases[part] as Bases), digits, share: part === "b2" ? share : undefined };
          return [part, multiply(kernel, degree, task)];
        }),
      );
    }
  } finally {
    quotient?.fill(0);
    kernel.wipe(mark);
  }
}

export function addUp({ G1, G2 }: Curve, partialSums: PartialSums): Sums {
  const entries = Object.entries(partialSums);
  return Object.fromEntries(entries.map(([part, terms]) => [part, (part === "b2" ? G2 : G1).addUp(terms)]));
}

/** The sums of several threads: those of a part that they shared are added. */
export function mergeSums({ G1, G2 }: Curve, sums: readonly Sums[]): Sums {
  const merged: { -readonly [part in Part]?: Point } = {};
  for (const [part, sum] of sums.flatMap((own) => Object.entries(own) as [Part, Point][])) {
    const other = merged[part];
    merged[part] = other === undefined ? sum : (part === "b2" ? G2 : G1).add(other, sum);
  }
  return merged;
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
  return proofOf({ G1, G2 }, proofA, proofB, proofC);
}

export const proofOf = ({ G1, G2 }: Pick<Curve, "G1" | "G2">, a: Point, b: Point, c: Point): ProofPoints =>
  toProofPoints([...G1.toCoordinates(a), ...G2.toCoordinates(b), ...G1.toCoordinates(c)]);

/** Uniform below r up to 2^-258: 64 random bytes. */
export function randomScalar(): bigint {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(64));
  return bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n) % SCALAR_FIELD_ORDER;
}
