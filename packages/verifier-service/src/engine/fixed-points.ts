/**
 * Multi-scalar multiplication for points that never change, such as a key's IC. A table contains each point's multiples
 * by every digit, so that a sum consists of additions only. A sum takes a third of the time of mcl's general function.
 * A table takes 390 kB and about 10 ms per point, so it is made with the first sum.
 */
import { type Curve, type Pointer, SIZE } from "./curve.ts";

const BITS = 6;
const WINDOWS = Math.ceil(254 / BITS);
const MULTIPLES = 2 ** BITS - 1;

export class FixedPoints {
  readonly #curve: Curve;
  readonly #points: Pointer;
  readonly #count: number;
  /** For each point and each window w, its multiples by 1 to 63 times 2^(6w). */
  #tables: readonly Pointer[] | undefined;
  readonly #sums: readonly [Pointer, Pointer];

  /** @param points stored consecutively, affine, not at infinity */
  constructor(curve: Curve, points: Pointer, count: number) {
    this.#curve = curve;
    this.#sums = [curve.alloc(SIZE.g1), curve.alloc(SIZE.g1)];
    this.#points = points;
    this.#count = count;
  }

  /**
   * @param scalars one for each point, from 0 to r - 1
   * @returns the sum, valid until the next call
   */
  sum(scalars: readonly bigint[]): Pointer {
    const { mcl } = this.#curve;
    let [sum, next] = this.#sums;
    mcl._mclBnG1_clear(sum);
    this.#tables ??= Array.from({ length: this.#count }, (_, index) => this.#table(this.#points + SIZE.g1 * index));
    for (const [index, table] of this.#tables.entries()) {
      let rest = scalars[index]!;
      for (let window = table; rest > 0n; window += SIZE.g1 * MULTIPLES, rest >>= BigInt(BITS)) {
        const digit = Number(BigInt.asUintN(BITS, rest));
        if (digit === 0) continue;
        mcl._mclBnG1_add(next, sum, window + SIZE.g1 * (digit - 1));
        [sum, next] = [next, sum];
      }
    }
    return sum;
  }

  #table(point: Pointer): Pointer {
    const { mcl } = this.#curve;
    const table = this.#curve.alloc(SIZE.g1 * MULTIPLES * WINDOWS);
    this.#curve.copy(table, point, SIZE.g1);
    for (let window = 0; window < WINDOWS; window++) {
      const first = table + SIZE.g1 * MULTIPLES * window;
      for (let digit = 2; digit <= MULTIPLES; digit++) {
        const at = first + SIZE.g1 * (digit - 1);
        mcl._mclBnG1_add(at, at - SIZE.g1, first);
      }
      // The 63rd multiple plus the first is the 64th: the first multiple of the next window.
      const last = first + SIZE.g1 * (MULTIPLES - 1);
      if (window + 1 < WINDOWS) mcl._mclBnG1_add(last + SIZE.g1, last, first);
    }
    mcl._mclBnG1_normalizeVec(table, table, MULTIPLES * WINDOWS);
    return table;
  }
}
