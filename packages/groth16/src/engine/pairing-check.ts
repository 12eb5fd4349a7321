/**
 * Groth16's equation, e(A, B) = e(alpha, beta) · e(sum of s_i·IC_i, gamma) · e(C, delta), with the part that depends
 * only on the key computed once. Three Miller loops that share their squarings, and one final exponentiation, remain.
 */

import { type Curve, isPairingOne, type Point, type Prepared, sharedCurve } from "../curve.ts";
import type { ProofPoints } from "../proof/decode.ts";
import { SCALAR_FIELD_ORDER } from "../proof/orders.ts";
import { checkedKey, type VerificationKey } from "../proof/verification-key.ts";

interface PreparedKey {
  readonly curve: Curve;
  readonly alpha: Point;
  readonly beta: Prepared;
  readonly alphaBeta: Uint8Array;
  readonly gamma: Prepared;
  readonly delta: Prepared;
  readonly ic: readonly Point[];
}

const prepared = new WeakMap<VerificationKey, Promise<PreparedKey>>();

export async function pairingHolds(
  key: VerificationKey,
  { a, b, c }: ProofPoints,
  signals: readonly bigint[],
): Promise<boolean> {
  const { curve, alphaBeta, gamma, delta, ic } = await preparedKey(key);
  assertCount(ic, signals);
  const { G1, G2 } = curve;
  const multiples = signals.map((scalar, index) => ({ point: ic[index + 1] as Point, scalar }));
  const bound = G1.add(ic[0] as Point, G1.sumOfMultiples(multiples));
  const product = curve.millerLoop([
    [curve.prepareG1(G1.fromCoordinates(a)), curve.prepareG2(G2.fromCoordinates(b.flat()))],
    [curve.prepareG1(G1.negate(bound)), gamma],
    [curve.prepareG1(G1.negate(G1.fromCoordinates(c))), delta],
  ]);
  return curve.finalExponentiation(product).every((byte, index) => byte === alphaBeta[index]);
}

/** A signal that is missing would count as 0. */
function assertCount({ length }: PreparedKey["ic"], signals: readonly bigint[]): void {
  if (signals.length !== length - 1) throw new TypeError(`${signals.length} signals for a key of ${length - 1}`);
}

/** A proof and its signals, as for {@link pairingHolds}. */
export interface DecodedProof {
  readonly points: ProofPoints;
  readonly signals: readonly bigint[];
}

/** Fewer proofs are checked one by one, because together they take almost as long. */
const MIN_TOGETHER = 4;

/**
 * For each proof, whether it is valid. The equations of all are raised to random weights and multiplied: if one is false, the
 * product is 1 for at most one of its 2^128 - 1 weights (the small exponents test of Bellare, Garay and Rabin), because every
 * point is in a group of prime order. If it is not 1, each proof is checked alone: checking halves together would take longer if
 * many are false.
 */
export async function batchHolds(key: VerificationKey, proofs: readonly DecodedProof[]): Promise<boolean[]> {
  if (proofs.length >= MIN_TOGETHER && weightedProductIsOne(await preparedKey(key), proofs))
    return proofs.map(() => true);
  const holds: boolean[] = [];
  for (const { points, signals } of proofs) holds.push(await pairingHolds(key, points, signals));
  return holds;
}

function weightedProductIsOne({ curve, alpha, beta, gamma, delta, ic }: PreparedKey, proofs: readonly DecodedProof[]) {
  const { G1, G2 } = curve;
  for (const { signals } of proofs) assertCount(ic, signals);
  const weights = proofs.map(randomWeight);
  const weighted = (values: (proof: DecodedProof) => bigint): bigint =>
    proofs.reduce((total, proof, index) => total + (weights[index] as bigint) * values(proof), 0n) % SCALAR_FIELD_ORDER;
  const total = weighted(() => 1n);
  const bound = ic.map((point, index) => {
    return { point, scalar: index === 0 ? total : weighted(({ signals }) => signals[index - 1] as bigint) };
  });
  const pairs = proofs.map(({ points: { a, b } }, index) => {
    return [
      G1.multiply(G1.fromCoordinates(a), weights[index] as bigint),
      curve.prepareG2(G2.fromCoordinates(b.flat())),
    ] as const;
  });
  const c = proofs.map(({ points }, index) => ({
    point: G1.fromCoordinates(points.c),
    scalar: weights[index] as bigint,
  }));
  return isPairingOne(curve, [
    ...pairs,
    [G1.negate(G1.multiply(alpha, total)), beta],
    [G1.negate(G1.sumOfMultiples(bound)), gamma],
    [G1.negate(G1.sumOfMultiples(c)), delta],
  ]);
}

/** Uniform from 1 to 2^128 - 1. */
function randomWeight(): bigint {
  const words = globalThis.crypto.getRandomValues(new BigUint64Array(2));
  const weight = words.reduce((value, word) => (value << 64n) | word, 0n);
  return weight === 0n ? randomWeight() : weight;
}

/** Computes the part that depends only on the key, if that was not done before. */
export async function prepareVerification(key: VerificationKey): Promise<void> {
  await preparedKey(key);
}

function preparedKey(key: VerificationKey): Promise<PreparedKey> {
  let preparing = prepared.get(key);
  if (preparing === undefined) {
    preparing = prepare(key);
    prepared.set(key, preparing);
    // The next verification tries again.
    preparing.catch(() => prepared.delete(key));
  }
  return preparing;
}

async function prepare(given: VerificationKey): Promise<PreparedKey> {
  const key = checkedKey(given);
  const curve = await sharedCurve();
  const { G1, G2 } = curve;
  const g1 = ([x, y]: VerificationKey["vk_alpha_1"]): Point => G1.fromCoordinates([x, y].map(BigInt));
  const g2 = ([x, y]: VerificationKey["vk_beta_2"]): Prepared =>
    curve.prepareG2(G2.fromCoordinates([...x, ...y].map(BigInt)));
  const [alpha, beta] = [g1(key.vk_alpha_1), g2(key.vk_beta_2)];
  return {
    ...{ curve, alpha, beta },
    alphaBeta: curve.finalExponentiation(curve.millerLoop([[curve.prepareG1(alpha), beta]])),
    gamma: g2(key.vk_gamma_2),
    delta: g2(key.vk_delta_2),
    ic: key.IC.map(g1),
  };
}
