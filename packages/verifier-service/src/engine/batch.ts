/**
 * Verifies many Groth16 proofs of several circuits at once. Groth16's equation is
 * e(A, B) = e(alpha, beta)·e(L, gamma)·e(C, delta) with L = IC[0] + sum of signals·IC. The batch raises each equation to a
 * random weight and multiplies all of them. If one equation is false, the product is 1 for only one of its 2^128 possible
 * weights (the small exponents test of Bellare, Garay and Rabin). This requires a group of prime order, so every point is
 * checked to be in the subgroup.
 */
import { randomBytes } from "node:crypto";
import { type Curve, type Pointer, SIZE } from "./curve.ts";
import { G1Sums } from "./g1-sums.ts";
import type { PreparedKey } from "./keys.ts";
import { PROOF_RESULT, type ProofResult, type Statement } from "./proof-statement.ts";
import { Subgroup } from "./subgroup.ts";

const R = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;
const WEIGHT_BYTES = 16;

/** Maximum proofs per batch. Larger batches gain little and delay the results. */
export const BATCH_SIZE = 32;

export class Batch {
  readonly #curve: Curve;
  readonly #keys: readonly PreparedKey[];
  readonly #subgroup: Subgroup;
  /** The proofs' A (times its weight), B and C, their weights as mcl's scalars, and their Miller loops. */
  readonly #a: Pointer;
  readonly #b: Pointer;
  readonly #c: Pointer;
  readonly #scalars: Pointer;
  readonly #loops: Pointer;
  readonly #gt: readonly [Pointer, Pointer, Pointer];
  #statements: Statement[] = [];
  #weights: bigint[] = [];

  constructor(curve: Curve, keys: readonly PreparedKey[]) {
    this.#curve = curve;
    this.#keys = keys;
    this.#subgroup = new Subgroup(curve);
    this.#a = curve.alloc(SIZE.g1 * BATCH_SIZE);
    this.#b = curve.alloc(SIZE.g2 * BATCH_SIZE);
    this.#c = curve.alloc(SIZE.g1 * BATCH_SIZE);
    this.#scalars = curve.alloc(SIZE.fr * BATCH_SIZE);
    this.#loops = curve.alloc(SIZE.gt * BATCH_SIZE);
    this.#gt = [curve.alloc(SIZE.gt), curve.alloc(SIZE.gt), curve.alloc(SIZE.gt)];
  }

  /** @param statements at most BATCH_SIZE; @returns a result for each */
  verify(statements: readonly Statement[]): ProofResult[] {
    if (statements.length > BATCH_SIZE) throw new RangeError(`${statements.length} proofs, at most ${BATCH_SIZE}`);
    const results: ProofResult[] = statements.map(() => PROOF_RESULT.notInSubgroup);
    const places = this.#load(statements);
    const count = places.length;
    if (count === 0) return results;
    const holds = Array.from({ length: count }, () => true);
    this.#weigh(count);
    this.#curve.mcl._mclBn_millerLoopVec(this.#gt[0], this.#a, this.#b, count);
    if (!this.#productIsOne(0, count)) this.#find(count, holds);
    places.forEach((place, index) => {
      results[place] = holds[index] ? PROOF_RESULT.true : PROOF_RESULT.false;
    });
    return results;
  }

  /** Selects the proofs whose B is in the subgroup, with their positions. */
  #load(statements: readonly Statement[]): number[] {
    const places: number[] = [];
    this.#statements = [];
    statements.forEach((statement, place) => {
      const [index, { a, b, c }] = [places.length, statement.points];
      this.#curve.writeG2(this.#b + SIZE.g2 * index, b);
      if (!this.#subgroup.contains(this.#b + SIZE.g2 * index)) return;
      this.#curve.writeG1(this.#a + SIZE.g1 * index, a);
      this.#curve.writeG1(this.#c + SIZE.g1 * index, c);
      this.#statements.push(statement);
      places.push(place);
    });
    return places;
  }

  /** Draws the weights and multiplies each A by its weight. A single proof needs no weight. */
  #weigh(count: number): void {
    this.#weights = count === 1 ? [1n] : Array.from({ length: count }, randomWeight);
    if (count === 1) return;
    for (const [index, weight] of this.#weights.entries()) this.#curve.writeFr(this.#scalars + SIZE.fr * index, weight);
    this.#curve.mcl._mclBnG1_mulEach(this.#a, this.#scalars, count);
  }

  /**
   * Whether all proofs from `first` up to but excluding `end` are valid; the product of their Miller loops is in gt[0].
   */
  #productIsOne(first: number, end: number): boolean {
    const { mcl } = this.#curve;
    const [loops, product, fixed] = this.#gt;
    const alone = this.#statements.length === 1;
    const fixedPointSums = new G1Sums(this.#curve);
    for (const [key, sums] of this.#signalSums(first, end)) {
      const { ic, alpha, beta, gamma } = this.#keys[key]!;
      fixedPointSums.add(gamma, ic.sum(sums), 1n);
      if (!alone) fixedPointSums.add(beta, alpha, sums[0]!);
    }
    for (let index = first; index < end; index++) {
      const { delta } = this.#keys[this.#statements[index]!.key]!;
      fixedPointSums.add(delta, this.#c + SIZE.g1 * index, this.#weights[index]!);
    }
    fixedPointSums.millerLoops(fixed);
    mcl._mclBnGT_mul(product, loops, fixed);
    mcl._mclBn_finalExp(fixed, product);
    if (!alone) return mcl._mclBnGT_isOne(fixed) === 1;
    return mcl._mclBnGT_isEqual(fixed, this.#keys[this.#statements[0]!.key]!.alphaBeta) === 1;
  }

  /** The weighted sums of 1 and of each signal, by circuit: the scalars for the circuit's IC. */
  #signalSums(first: number, end: number): Map<number, bigint[]> {
    const sums = new Map<number, bigint[]>();
    for (let index = first; index < end; index++) {
      const { key, signals } = this.#statements[index]!;
      const weight = this.#weights[index]!;
      const sum = sums.get(key) ?? Array.from({ length: signals.length + 1 }, () => 0n);
      sums.set(
        key,
        [1n, ...signals].map((signal, place) => (sum[place]! + weight * signal) % R),
      );
    }
    return sums;
  }

  /** Bisects a failed batch until every invalid proof is found. */
  #find(count: number, holds: boolean[]): void {
    const { mcl } = this.#curve;
    for (let index = 0; count > 1 && index < count; index++)
      mcl._mclBn_millerLoop(this.#loops + SIZE.gt * index, this.#a + SIZE.g1 * index, this.#b + SIZE.g2 * index);
    // If the first half of a failing part is valid, the second is not.
    const split = (first: number, end: number): void => {
      if (end - first === 1) {
        holds[first] = false;
        return;
      }
      const middle = (first + end) >> 1;
      const firstHolds = this.#rangeHolds(first, middle);
      if (!firstHolds) split(first, middle);
      if (firstHolds || !this.#rangeHolds(middle, end)) split(middle, end);
    };
    split(0, count);
  }

  #rangeHolds(first: number, end: number): boolean {
    const { mcl } = this.#curve;
    const [loops, product] = this.#gt;
    this.#curve.copy(loops, this.#loops + SIZE.gt * first, SIZE.gt);
    for (let index = first + 1; index < end; index++) {
      mcl._mclBnGT_mul(product, loops, this.#loops + SIZE.gt * index);
      this.#curve.copy(loops, product, SIZE.gt);
    }
    return this.#productIsOne(first, end);
  }
}

/** Uniform in [1, 2^128 - 1]. */
function randomWeight(): bigint {
  for (;;) {
    const weight = BigInt(`0x${randomBytes(WEIGHT_BYTES).toString("hex")}`);
    if (weight !== 0n) return weight;
  }
}
