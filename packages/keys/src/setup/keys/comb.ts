import { type GroupName, SIZES, type WasmCurve } from "./wasm-curve.ts";

/**
 * Window widths in bits. A wider window needs fewer additions and a larger table: 2^width points for each of 254 / width
 * windows. G2 has a narrower window, because an addition in G2 costs as much as four in G1, and a tenth as many
 * products share the cost of the table.
 */
const WINDOW = { g1: 12, g2: 9 } as const;
const SCALAR_BITS = 254;

/** Products of a group's generator and many scalars, from a table of its multiples: one addition for each window. */
export class FixedBaseComb {
  readonly #curve: WasmCurve;
  readonly #group: GroupName;
  readonly #windows: number;
  readonly #table: number;

  constructor(curve: WasmCurve, group: GroupName, generator: number) {
    this.#curve = curve;
    this.#group = group;
    this.#windows = Math.ceil(SCALAR_BITS / WINDOW[group]);
    this.#table = this.#buildTable(generator);
  }

  /** The table: affine points digit * 2^(width * window) * G, by window, then by digit from 1 up. */
  #buildTable(generator: number): number {
    const { affine, jacobian } = SIZES[this.#group];
    const digits = (1 << WINDOW[this.#group]) - 1;
    const [addMixed, toAffine, normalise] = ["addMixed", "toAffine", "batchToAffine"].map((name) => this.#call(name));
    const table = this.#curve.allocate(this.#windows * digits * affine);
    const base = this.#curve.place(this.#curve.read(generator, affine));
    const multiples = this.#curve.allocate((digits + 1) * jacobian, (digits + 1) * jacobian);
    for (let window = 0; window < this.#windows; window++) {
      this.#call("toJacobian")!(base, multiples);
      for (let digit = 1; digit <= digits; digit++)
        addMixed!(multiples + (digit - 1) * jacobian, base, multiples + digit * jacobian);
      // The multiple after the last digit is the next window's base.
      toAffine!(multiples + digits * jacobian, base);
      normalise!(multiples, digits, table + window * digits * affine);
    }
    this.#curve.release(base);
    return table;
  }

  #call(name: string) {
    return this.#curve.function(`${this.#group}m_${name}`);
  }

  /**
   * Affine points in the library's internal form, as a zkey stores them (0 gives the point at infinity, all zero).
   * @param scalars 32 bytes each, little-endian, below r; at least one.
   */
  multiply(scalars: Uint8Array): Uint8Array<ArrayBuffer> {
    const { affine, jacobian } = SIZES[this.#group];
    const count = scalars.byteLength / SIZES.scalar;
    const width = WINDOW[this.#group];
    const digits = (1 << width) - 1;
    const addMixed = this.#call("addMixed");
    const mark = this.#curve.mark();
    const sums = this.#curve.allocate(count * jacobian, count * jacobian);
    for (let index = 0; index < count; index++) this.#call("zero")(sums + index * jacobian);
    // Window by window, so that the part of the table in use stays in the cache.
    for (let window = 0; window < this.#windows; window++) {
      const digit = digitReader(scalars, window * width, digits);
      const row = this.#table + window * digits * affine;
      for (let index = 0, sum = sums; index < count; index++, sum += jacobian) {
        const value = digit(index);
        if (value !== 0) addMixed(sum, row + (value - 1) * affine, sum);
      }
    }
    this.#call("batchToAffine")(sums, count, sums);
    const points = this.#curve.read(sums, count * affine);
    this.#curve.release(mark);
    return points;
  }

  /** The same points as snarkjs hashes them: big-endian, not in Montgomery form. */
  uncompressed(points: Uint8Array): Uint8Array<ArrayBuffer> {
    const mark = this.#curve.mark();
    const input = this.#curve.place(points);
    const output = this.#curve.allocate(points.byteLength);
    this.#call("batchLEMtoU")(input, points.byteLength / SIZES[this.#group].affine, output);
    const bytes = this.#curve.read(output, points.byteLength);
    this.#curve.release(mark);
    return bytes;
  }
}

/** Reads `mask`'s bits of a scalar from bit `position` on; bits past the end of the scalar are 0. */
function digitReader(scalars: Uint8Array, position: number, mask: number): (index: number) => number {
  const first = position >> 3;
  const shift = position & 7;
  const second = first + 1 < SIZES.scalar;
  const third = first + 2 < SIZES.scalar;
  return (index) => {
    const at = index * SIZES.scalar + first;
    let bits = scalars[at]!;
    if (second) bits |= scalars[at + 1]! << 8;
    if (third) bits |= scalars[at + 2]! << 16;
    return (bits >> shift) & mask;
  };
}
