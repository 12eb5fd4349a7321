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

/** Maximum points in the memory at a time; they share two inversions. */
const CHUNK = 256;
const PAIRS = CHUNK / 2;
const LADDER_BYTES = LADDER_PAIRS * PAIR_BYTES;
/** Bits of h = (k - 1) / 2 for the largest k, which is below l. */
const MAX_BITS = 250;

let program: Program | undefined;

/** The x of k R for an odd k, from the x of each R, like `multiplyXs` of @sotto/protocol but several times as fast. */
export class XMultiplier {
  readonly #kernel: Kernel;
  /** The start of the memory as it was before the first call: constants, and the kernel's scratch memory. */
  readonly #initial: Uint8Array;
  /** Addresses of pairs with constants, in Montgomery form. */
  readonly #constants: Readonly<Record<"square" | "plain" | "one" | "a" | "ad" | "root" | "half" | "a24", number>>;
  readonly #ladders: number;
  /** One pair for each pair of points: x, then 1/x; the products before each; the denominators; the numerators. */
  readonly #inverses: number;
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
    this.#before = pairs(PAIRS + 1);
    this.#denominators = pairs(PAIRS);
    this.#numerators = pairs(PAIRS);
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
   * Computes x(k R) for many points R, and then wipes them and the scalar from the kernel's memory.
   * @param xs in [0, p)
   * @param k odd, in [1, l)
   * @returns x(k R) for each, or null if there is no such point and a denominator vanishes
   */
  multiply(xs: readonly bigint[], k: bigint): (bigint | null)[] {
    const bitsEnd = this.#writeBits(k >> 1n);
    try {
      const results: (bigint | null)[] = [];
      for (let first = 0; first < xs.length; first += CHUNK) {
        const chunk = xs.slice(first, first + CHUNK);
        // A vanishing denominator, which no payment has, would spoil the inversion that the chunk shares.
        results.push(...(this.#multiplyChunk(chunk, bitsEnd) ?? multiplyXs(chunk, k)));
      }
      return results;
    } finally {
      this.#wipe();
    }
  }

  /** @returns undefined if a denominator is 0 */
  #multiplyChunk(xs: readonly bigint[], bitsEnd: number): (bigint | null)[] | undefined {
    const kernel = this.#kernel;
    const multiply = (out: number, a: number, b: number) => kernel.call("multiply", out, a, b);
    const difference = (out: number, a: number, b: number) => kernel.call("difference", out, a, b);
    const count = Math.ceil(xs.length / 2);
    const pair = (start: number, index: number): number => start + index * PAIR_BYTES;
    const { square, plain, one, a, ad, root, half, a24 } = this.#constants;
    for (let i = 0; i < count; i += 1) {
      const x = pair(this.#inverses, i);
      // 0 has no inverse; its result is null in any case.
      this.#writePair(x, xs[2 * i] || 1n, xs[2 * i + 1] || 1n);
      multiply(x, x, square);
    }
    if (!this.#invert(this.#inverses, count)) return undefined;
    for (let i = 0; i < count; i += 1) {
      const inverse = pair(this.#inverses, i);
      const ladder = this.#ladders + i * LADDER_BYTES;
      const base = pair(ladder, 4);
      // u = (1/x^2 - a) / (2 sqrt a)
      multiply(base, inverse, inverse);
      difference(base, base, a);
      multiply(base, base, half);
      kernel.call("sum", base, base, this.#zero);
      this.#copy(pair(ladder, 0), one);
      this.#copy(pair(ladder, 1), this.#zero);
      // A product by 1, because the limbs of `base` are signed: its difference from 1 would exceed 2^51.
      multiply(pair(ladder, 2), base, one);
      this.#copy(pair(ladder, 3), one);
    }
    kernel.call("ladder", this.#ladders, this.#ladders + count * LADDER_BYTES, this.#bits, bitsEnd, a24);
    const [v0, v1, left, right] = [0, 1, 2, 3].map((i) => pair(this.#scratch, i)) as [number, number, number, number];
    for (let i = 0; i < count; i += 1) {
      const [u0, w0, u1, w1] = [0, 1, 2, 3].map((part) => pair(this.#ladders + i * LADDER_BYTES, part)) as [
        number,
        number,
        number,
        number,
      ];
      for (const [v, u, w] of [
        [v0, u0, w0],
        [v1, u1, w1],
      ] as const) {
        multiply(left, a, w);
        multiply(right, root, u);
        kernel.call("sum", v, left, right);
      }
      const [numerator, denominator] = [pair(this.#numerators, i), pair(this.#denominators, i)];
      multiply(left, w1, v0);
      multiply(right, w0, v1);
      difference(numerator, left, right);
      multiply(numerator, numerator, pair(this.#inverses, i));
      multiply(left, v0, v1);
      multiply(right, w0, w1);
      multiply(right, ad, right);
      difference(denominator, left, right);
    }
    if (!this.#invert(this.#denominators, count)) return undefined;
    const results: (bigint | null)[] = [];
    for (let i = 0; i < count; i += 1) {
      multiply(left, pair(this.#numerators, i), pair(this.#denominators, i));
      multiply(left, left, plain);
      results.push(...this.#readPair(left));
    }
    return xs.map((x, i) => (x === 0n ? null : results[i]!));
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

  /** Zeroes the bits of the scalar, and all points: a shared point opens its note. */
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
