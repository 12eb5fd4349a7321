/** Sums in G1 that are paired with the fixed points of the keys: one sum for each fixed point. */
import { type Curve, type Pointer, SIZE } from "./curve.ts";

interface Sum {
  readonly points: Pointer[];
  readonly scalars: bigint[];
}

export class G1Sums {
  readonly #curve: Curve;
  /** Keyed by the line functions of the fixed point. */
  readonly #sums = new Map<Pointer, Sum>();

  constructor(curve: Curve) {
    this.#curve = curve;
  }

  /** @param scalar from 0 to r - 1 */
  add(lines: Pointer, point: Pointer, scalar: bigint): void {
    let sum = this.#sums.get(lines);
    if (sum === undefined) {
      sum = { points: [], scalars: [] };
      this.#sums.set(lines, sum);
    }
    sum.points.push(point);
    sum.scalars.push(scalar);
  }

  /** The product of the Miller loops of all sums, negated, with their fixed points; at least one sum. */
  millerLoops(out: Pointer): void {
    const { mcl } = this.#curve;
    const pairs: [Pointer, Pointer][] = [];
    const scratch = this.#curve.alloc(SIZE.g1 * this.#sums.size + 2 * SIZE.gt);
    const [loop, product] = [scratch + SIZE.g1 * this.#sums.size, scratch + SIZE.g1 * this.#sums.size + SIZE.gt];
    for (const [lines, sum] of this.#sums) {
      const point = scratch + SIZE.g1 * pairs.length;
      this.#negatedSum(point, sum);
      pairs.push([point, lines]);
    }
    // Two loops at a time share their squarings. For a sum at infinity mcl returns 1, which a test verifies.
    for (let index = 0; index < pairs.length; index += 2) {
      const [first, second] = [pairs[index]!, pairs[index + 1]];
      const target = index === 0 ? out : loop;
      if (second === undefined) mcl._mclBn_precomputedMillerLoop(target, ...first);
      else mcl._mclBn_precomputedMillerLoop2(target, ...first, ...second);
      if (index === 0) continue;
      mcl._mclBnGT_mul(product, out, loop);
      this.#curve.copy(out, product, SIZE.gt);
    }
    mcl._free(scratch);
  }

  #negatedSum(out: Pointer, { points, scalars }: Sum): void {
    const { mcl } = this.#curve;
    if (points.length === 1 && scalars[0] === 1n) {
      mcl._mclBnG1_neg(out, points[0]!);
      return;
    }
    const scratch = this.#curve.alloc((SIZE.g1 + SIZE.fr) * points.length + SIZE.g1);
    const words = scratch + SIZE.g1 * points.length;
    const total = words + SIZE.fr * points.length;
    points.forEach((point, index) => {
      this.#curve.copy(scratch + SIZE.g1 * index, point, SIZE.g1);
      this.#curve.writeFr(words + SIZE.fr * index, scalars[index]!);
    });
    mcl._mclBnG1_mulVec(total, scratch, words, points.length);
    mcl._mclBnG1_neg(out, total);
    mcl._free(scratch);
  }
}
