/** Multiplies one point by many scalars: all multiples that the digits of a scalar need are computed in advance. */
import type { Group, Point } from "../curve.ts";

/** Scalars are below r < 2^254. */
const SCALAR_BITS = 254;

export class Table {
  readonly #group: Group;
  readonly #bits: number;
  /** For each digit position from the lowest, the point times 1 to 2^bits - 1 at that position. */
  readonly #points: Uint8Array;

  /** @param bits the size of a digit: a larger table takes longer to build and makes multiplications faster */
  constructor(group: Group, point: Point, bits: number) {
    this.#group = group;
    this.#bits = bits;
    const perDigit = 2 ** bits - 1;
    const digits = Math.ceil(SCALAR_BITS / bits);
    this.#points = new Uint8Array(digits * perDigit * point.length);
    let base = point;
    for (let digit = 0, offset = 0; digit < digits; digit++) {
      let multiple = base;
      for (let weight = 1; weight <= perDigit; weight++, offset += point.length) {
        this.#points.set(multiple, offset);
        multiple = group.add(multiple, base);
      }
      base = multiple;
    }
  }

  /** @returns `sum` plus the point times the scalar */
  addMultiple(sum: Point, scalar: bigint): Point {
    const perDigit = 2 ** this.#bits - 1;
    const bytes = this.#group.zero.length;
    let result = sum;
    for (let rest = scalar, offset = 0; rest > 0n; rest >>= BigInt(this.#bits), offset += perDigit * bytes) {
      const digit = Number(rest & BigInt(perDigit));
      if (digit === 0) continue;
      const start = offset + (digit - 1) * bytes;
      result = this.#group.add(result, this.#points.subarray(start, start + bytes));
    }
    return result;
  }

  wipe(): void {
    this.#points.fill(0);
  }
}
