import {
  fromLimbs,
  hasFusedMultiplyAdd,
  Kernel,
  LIMBS,
  MONTGOMERY_BITS,
  PAIR_BYTES,
  type Program,
  toLimbs,
} from "@sotto/groth16/kernel";
import { FIELD_MODULUS, LADDER_CURVE, multiplyXs } from "@sotto/protocol";
import { BIT_BYTES, compileLadderKernel, LADDER_PAIRS } from "./ladder-kernel.ts";

/** Maximum points in the memory at a time, and scalars for them; they share two inversions. */
const CHUNK = 256;
const SCALARS = 4;
const PAIRS = CHUNK / 2;
const LADDER_BYTES = LADDER_PAIRS * PAIR_BYTES;
/** Bits of h = (k - 1) / 2 for the largest k, which is below l. */
const MAX_BITS = 250;

let program: Program | undefined;

/** The x of k R for odd k, from the x of each R, like `multiplyXs` of @sotto/protocol but several times as fast. */
export class XMultiplier {
  readonly #kernel: Kernel;
  /** The start of the memory as it was before the first call: constants, and the kernel's scratch memory. */
  readonly #initial: Uint8Array;
  /** Addresses of pairs with constants, in Montgomery form. */
  readonly #constants: Readonly<Record<"square" | "plain" | "one" | "a" | "ad" | "root" | "half" | "a24", number>>;
  readonly #ladders: number;
  /** One pair for each pair of points: x, then 1/x. */
  readonly #inverses: number;
  /** One for each scalar and pair of points: the products before each; the denominators; the numerators. */
  readonly #before: number;
  readonly #denominators: number;
  readonly #numerators: number;
  readonly #bits: number;
  readonly #scratch: number;
  readonly #bytes: Uint8Array;

  private constructor(kernel: Kernel, initial: Uint8Array) {
    const pairs = (count: number): number => kernel.allocate(count * PAIR_BYTES);
    const { a, d, rootA, a24 } = LADDER_CURVE;
    const montgomery = (value: bigint): number => kernel.allocatePair((value << MONTGOMERY_BITS) % FIELD_MODULUS);
    const half = inverseOfTwice(rootA);
    this.#kernel = kernel;
    this.#initial = initial;
    this.#constants = {
      square: kernel.allocatePair((1n << (2n * MONTGOMERY_BITS)) % FIELD_MODULUS),
      plain: kernel.allocatePair(1n),
      one: montgomery(1n),
      a: montgomery(a),
      ad: montgomery((a * d) % FIELD_MODULUS),
      root: montgomery((2n * rootA) % FIELD_MODULUS),
      half: montgomery(half),
      a24: montgomery(a24),
    };
    this.#ladders = kernel.allocate(PAIRS * LADDER_BYTES);
    this.#inverses = pairs(PAIRS);
    this.#before = pairs(SCALARS * PAIRS + 1);
    this.#denominators = pairs(SCALARS * PAIRS);
    this.#numerators = pairs(SCALARS * PAIRS);
    this.#bits = kernel.allocate((MAX_BITS + 1) * BIT_BYTES);
    this.#scratch = pairs(6);
    // After the last allocation: growing the memory would detach the view.
    this.#bytes = new Uint8Array(kernel.buffer);
  }

  /** Compiles the kernel, once for all instances. @returns undefined if this machine cannot run it */
  static async create(): Promise<XMultiplier | undefined> {
    if (!hasFusedMultiplyAdd()) return undefined;
    program ??= compileLadderKernel(FIELD_MODULUS);
    return new XMultiplier(await Kernel.instantiate(program), program.constants);
  }

  /**
   * Computes x(k R) for many points R, and then wipes them and the scalars from the kernel's memory.
   * @param xs in [0, p)
   * @param ks odd, in [1, l)
   * @returns for each x, the x(k R) of each k, or null if there is no such point and a denominator vanishes
   */
  multiply(xs: readonly bigint[], ks: readonly bigint[]): (bigint | null)[][] {
    const results = xs.map((): (bigint | null)[] => []);
    try {
      for (let first = 0; first < xs.length; first += CHUNK)
        for (let key = 0; key < ks.length; key += SCALARS) {
          const chunk = xs.slice(first, first + CHUNK);
          const scalars = ks.slice(key, key + SCALARS);
          // A vanishing denominator, which no payment has, would spoil the inversion that the chunk shares.
          const rows = this.#multiplyChunk(chunk, scalars) ?? multiplyXs(chunk, scalars);
          for (const [i, row] of rows.entries()) results[first + i]!.push(...row);
        }
      return results;
    } finally {
      this.#wipe();
    }
  }

  /** @returns undefined if a denominator is 0 */
  #multiplyChunk(xs: readonly bigint[], ks: readonly bigint[]): (bigint | null)[][] | undefined {
    const count = Math.ceil(xs.length / 2);
    if (!this.#writeBases(xs, count)) return undefined;
    for (const [key, k] of ks.entries()) this.#climb(k, count, key * count);
    if (!this.#invert(this.#denominators, ks.length * count)) return undefined;
    const quotient = this.#scratch;
    const results = xs.map((): (bigint | null)[] => []);
    for (let i = 0; i < ks.length * count; i += 1) {
      const multiply = (out: number, a: number, b: number) => this.#kernel.call("multiply", out, a, b);
      multiply(quotient, this.#numerators + i * PAIR_BYTES, this.#denominators + i * PAIR_BYTES);
      multiply(quotient, quotient, this.#constants.plain);
      const at = 2 * (i % count);
      for (const [lane, x] of this.#readPair(quotient).entries())
        results[at + lane]?.push(xs[at + lane] === 0n ? null : x);
    }
    return results;
  }

  /** Writes 1/x, and u of each point as the base of its ladder. @returns false if there is no inverse */
  #writeBases(xs: readonly bigint[], count: number): boolean {
    const kernel = this.#kernel;
    const multiply = (out: number, a: number, b: number) => kernel.call("multiply", out, a, b);
    const { square, a, half } = this.#constants;
    for (let i = 0; i < count; i += 1) {
      const x = this.#inverses + i * PAIR_BYTES;
      // 0 has no inverse; its result is null in any case.
      this.#writePair(x, xs[2 * i] || 1n, xs[2 * i + 1] || 1n);
      multiply(x, x, square);
    }
    if (!this.#invert(this.#inverses, count)) return false;
    for (let i = 0; i < count; i += 1) {
      const inverse = this.#inverses + i * PAIR_BYTES;
      const base = this.#ladders + i * LADDER_BYTES + 4 * PAIR_BYTES;
      // u = (1/x^2 - a) / (2 sqrt a)
      multiply(base, inverse, inverse);
      kernel.call("difference", base, base, a);
      multiply(base, base, half);
      kernel.call("sum", base, base, this.#zero);
    }
    return true;
  }

  /** Climbs all ladders with one scalar. Writes numerators and denominators of the results from pair `first` on. */
  #climb(k: bigint, count: number, first: number): void {
    const kernel = this.#kernel;
    const multiply = (out: number, a: number, b: number) => kernel.call("multiply", out, a, b);
    const difference = (out: number, a: number, b: number) => kernel.call("difference", out, a, b);
    const { one, a, ad, root, a24 } = this.#constants;
    const partsOf = (i: number) => [0, 1, 2, 3, 4].map((part) => this.#ladders + i * LADDER_BYTES + part * PAIR_BYTES);
    for (let i = 0; i < count; i += 1) {
      const [u0, w0, u1, w1, base] = partsOf(i) as [number, number, number, number, number];
      this.#copy(u0, one);
      this.#copy(w0, this.#zero);
      // A product by 1, because the limbs of `base` are signed: its difference from 1 would exceed 2^51.
      multiply(u1, base, one);
      this.#copy(w1, one);
    }
    const bitsEnd = this.#writeBits(k >> 1n);
    kernel.call("ladder", this.#ladders, this.#ladders + count * LADDER_BYTES, this.#bits, bitsEnd, a24);
    const [v0, v1, left, right] = [0, 1, 2, 3].map((i) => this.#scratch + i * PAIR_BYTES) as [
      number,
      number,
      number,
      number,
    ];
    for (let i = 0; i < count; i += 1) {
      const [u0, w0, u1, w1] = partsOf(i) as [number, number, number, number, number];
      for (const [v, u, w] of [
        [v0, u0, w0],
        [v1, u1, w1],
      ] as const) {
        multiply(left, a, w);
        multiply(right, root, u);
        kernel.call("sum", v, left, right);
      }
      const at = (first + i) * PAIR_BYTES;
      const [numerator, denominator] = [this.#numerators + at, this.#denominators + at];
      multiply(left, w1, v0);
      multiply(right, w0, v1);
      difference(numerator, left, right);
      multiply(numerator, numerator, this.#inverses + i * PAIR_BYTES);
      multiply(left, v0, v1);
      multiply(right, w0, w1);
      multiply(right, ad, right);
      difference(denominator, left, right);
    }
  }

  /** Inverts pairs in place with one inversion (Montgomery's trick). @returns false if one of them is 0 */
  #invert(start: number, count: number): boolean {
    const kernel = this.#kernel;
    const multiply = (out: number, a: number, b: number) => kernel.call("multiply", out, a, b);
    const [total, next] = [this.#scratch, this.#scratch + PAIR_BYTES];
    this.#copy(this.#before, this.#constants.one);
    for (let i = 0; i < count; i += 1)
      multiply(this.#before + (i + 1) * PAIR_BYTES, this.#before + i * PAIR_BYTES, start + i * PAIR_BYTES);
    const product = this.#before + count * PAIR_BYTES;
    if (this.#readPair(product).includes(0n)) return false;
    kernel.call("invert", total, product);
    for (let i = count - 1; i >= 0; i -= 1) {
      const value = start + i * PAIR_BYTES;
      multiply(next, total, value);
      multiply(value, total, this.#before + i * PAIR_BYTES);
      this.#copy(total, next);
    }
    return true;
  }

  /** Writes a mask for each bit that says whether it differs from the bit before. @returns the last mask's address */
  #writeBits(h: bigint): number {
    const words = this.#kernel.words(this.#bits, 4 * (MAX_BITS + 1));
    for (let i = 0; i <= MAX_BITS; i += 1) {
      const [bit, previous] = [MAX_BITS - 1 - i, MAX_BITS - i].map((at) =>
        at < 0 ? 0 : Number((h >> BigInt(at)) & 1n),
      );
      words.fill(-(bit! ^ previous!), 4 * i, 4 * i + 4);
    }
    return this.#bits + MAX_BITS * BIT_BYTES;
  }

  get #zero(): number {
    return this.#scratch + 5 * PAIR_BYTES;
  }

  #copy(to: number, from: number): void {
    this.#bytes.copyWithin(to, from, from + PAIR_BYTES);
  }

  #writePair(address: number, first: bigint, second: bigint): void {
    const doubles = this.#kernel.doubles(address, 2 * LIMBS);
    const [left, right] = [toLimbs(first), toLimbs(second)];
    for (let limb = 0; limb < LIMBS; limb += 1) {
      doubles[2 * limb] = left[limb]!;
      doubles[2 * limb + 1] = right[limb]!;
    }
  }

  /** The two numbers of a pair, reduced to [0, p). */
  #readPair(address: number): [bigint, bigint] {
    const doubles = this.#kernel.doubles(address, 2 * LIMBS);
    const lane = (index: number): bigint => {
      const value = fromLimbs([0, 1, 2, 3, 4].map((limb) => doubles[2 * limb + index]!)) % FIELD_MODULUS;
      return value < 0n ? value + FIELD_MODULUS : value;
    };
    return [lane(0), lane(1)];
  }

  /** Zeroes the bits of the scalars, and all points: a shared point opens its note. */
  #wipe(): void {
    this.#bytes.set(this.#initial);
    this.#bytes.fill(0, this.#ladders);
  }
}

/** 1 / (2 value) mod p, by Fermat. */
function inverseOfTwice(value: bigint): bigint {
  let result = 1n;
  let square = (2n * value) % FIELD_MODULUS;
  for (let rest = FIELD_MODULUS - 2n; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % FIELD_MODULUS;
    square = (square * square) % FIELD_MODULUS;
  }
  return result;
}
