/** Groth16's prover (eprint 2016/260, section 3.2) on the kernels. */
import type { Curve, Raw } from "../engine/curve.ts";
import type { ProofPoints } from "../proof/decode.ts";
import { SCALAR_FIELD_ORDER } from "../proof/decode.ts";
import type { Witness } from "../witness/calculator.ts";
import { PAIR_BYTES } from "./constants.ts";
import type { Degree } from "./curve-kernel.ts";
import { toDigits } from "./digits.ts";
import { importFactor } from "./field-functions.ts";
import type { Kernel } from "./kernel.ts";
import { MONTGOMERY_BITS } from "./limbs.ts";
import { multiplyMany, type Task, type Term } from "./msm.ts";
import { TABLE_BYTES } from "./ntt-kernel.ts";
import { isInfinity, readPoint } from "./points.ts";
import type { Bases, ProvingKey } from "./proving-key.ts";

const ELEMENT_BYTES = 32;

/** Synchronous, so that two proofs with one key cannot disturb each other. */
export function proveWithKey(key: ProvingKey, curve: Curve, witness: Witness): ProofPoints {
  const { G1, G2 } = curve;
  const scalars = new Uint32Array(witness.slice().buffer);
  const quotient = quotientScalars(key, witness);
  const [mark, kernel] = [key.curve.mark(), key.curve];
  const digits = toDigits(scalars);
  const task = ({ points, indices }: Bases): Task => ({ points, indices, digits });
  const inG1 = [
    task(key.a),
    task(key.b1),
    task(key.c),
    { points: key.h.points, indices: key.h.indices, digits: toDigits(quotient) },
  ];
  const sums = multiplyMany(kernel, 1, inG1).map((terms) => addUp(curve, kernel, 1, terms));
  const [a, b1, c, h] = sums as [Raw, Raw, Raw, Raw];
  const [b2] = multiplyMany(kernel, 2, [task(key.b2)]).map((terms) => addUp(curve, kernel, 2, terms)) as [Raw];
  kernel.wipe(mark);

  const { alpha1, beta1, beta2, delta1, delta2 } = key.zkey;
  const [r, s] = [randomScalar(), randomScalar()];
  const proofA = G1.add(G1.add(a, alpha1), G1.timesScalar(delta1, r));
  const proofB = G2.add(G2.add(b2, beta2), G2.timesScalar(delta2, s));
  const proofB1 = G1.add(G1.add(b1, beta1), G1.timesScalar(delta1, s));
  const minusRs = SCALAR_FIELD_ORDER - ((r * s) % SCALAR_FIELD_ORDER);
  const blinding = [G1.timesScalar(proofA, s), G1.timesScalar(proofB1, r), G1.timesScalar(delta1, minusRs)];
  const proofC = blinding.reduce((sum, term) => G1.add(sum, term), G1.add(c, h));
  const [ax, ay] = G1.toObject<[bigint, bigint]>(G1.toAffine(proofA));
  const [bx, by] = G2.toObject<[[bigint, bigint], [bigint, bigint]]>(G2.toAffine(proofB));
  const [cx, cy] = G1.toObject<[bigint, bigint]>(G1.toAffine(proofC));
  return { a: [ax, ay], b: [bx, by], c: [cx, cy] };
}

/** The values of (A·B - C)/Z on the coset, up to the constant that H's points have in them. */
function quotientScalars({ zkey, scalars: kernel, domain, matrices }: ProvingKey, witness: Witness): Uint32Array {
  const { variables } = zkey;
  const size = domain.size * PAIR_BYTES;
  const mark = kernel.mark();
  const raw = kernel.allocate(witness.byteLength);
  kernel.bytes(raw, witness.byteLength).set(witness);
  // The witness stays as it is: this factor only undoes the division by R.
  const factor = kernel.allocatePair(importFactor(kernel.modulus, MONTGOMERY_BITS));
  kernel.call("import", raw, matrices.witness, variables, factor);
  const [ab, c] = [kernel.allocate(size), kernel.allocate(size)] as const;
  kernel.call("rows", matrices.program, matrices.counts, matrices.counts + 4 * domain.size, ab);
  kernel.call("products", ab, ab + size, c);
  domain.toCoset(ab);
  domain.toCoset(c);
  const out = kernel.allocate(domain.size * ELEMENT_BYTES);
  kernel.call("finish", ab, ab + size, c, out);
  const result = new Uint32Array(kernel.bytes(out, domain.size * ELEMENT_BYTES).slice().buffer);
  kernel.wipe(mark);
  kernel.bytes(matrices.witness, variables * TABLE_BYTES).fill(0);
  return result;
}

/** Sum of 2^position times point, from the highest position down. */
function addUp({ G1, G2 }: Curve, kernel: Kernel, degree: Degree, terms: readonly Term[]): Raw {
  const group = degree === 1 ? G1 : G2;
  const sorted = terms.toSorted((left, right) => right.position - left.position);
  let [sum, position] = [group.zero, sorted[0]?.position ?? 0];
  for (const term of sorted) {
    for (; position > term.position; position--) sum = group.double(sum);
    const point = readPoint(kernel, degree, term.address);
    if (isInfinity(point)) continue;
    sum = group.add(sum, group.fromObject(degree === 1 ? point : [point.slice(0, 2), point.slice(2)]));
  }
  for (; position > 0; position--) sum = group.double(sum);
  return sum;
}

/** Uniform below r up to 2^-258: 64 random bytes. */
function randomScalar(): bigint {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(64));
  return bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n) % SCALAR_FIELD_ORDER;
}
