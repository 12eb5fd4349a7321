/** The pairing's kernel with a memory of its own, and the tower of its fields with bigints. */
import { pairingCode } from "../../src/pairing/code.ts";
import {
  ELEMENT_BYTES,
  fromLimbs,
  LIMBS,
  MONTGOMERY_BITS,
  modulo,
  SMALL_LIMB,
  toLimbs,
} from "../../src/pairing/limbs.ts";
import { multiplyPairs, type Pair, XI } from "../../src/pairing/parameters.ts";
import { BASE_FIELD_ORDER as q } from "../../src/proof/orders.ts";

/** Limbs of an element of Fq, from the lowest. */
export type Limbs = readonly number[];

const R_INVERSE = inverseOf(1n << MONTGOMERY_BITS);

export function inverseOf(value: bigint): bigint {
  let [a, b, x, y] = [modulo(value), q, 1n, 0n];
  while (a !== 0n) [a, b, x, y] = [b % a, a, y - (b / a) * x, x];
  return modulo(y);
}

type Exports = Readonly<Record<string, (...args: (number | bigint)[]) => number>>;

export class PairingKernel {
  readonly #memory = new WebAssembly.Memory({ initial: 4 });
  readonly #exports: Exports;
  #free: number;

  constructor() {
    const { bytes, constants, end } = pairingCode();
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory: this.#memory } });
    this.#exports = exports as unknown as Exports;
    new Uint8Array(this.#memory.buffer).set(constants);
    this.#free = Math.ceil(end / 8) * 8;
  }

  get names(): string[] {
    return Object.keys(this.#exports);
  }

  allocate(elements: number): number {
    const address = this.#free;
    this.#free += Math.ceil((elements * ELEMENT_BYTES) / 8) * 8;
    return address;
  }

  call(name: string, ...args: (number | bigint)[]): number {
    const target = this.#exports[name];
    if (target === undefined) throw new Error(`the kernel has no function ${name}`);
    return target(...args);
  }

  /** Writes elements one after the other. */
  put(address: number, elements: readonly Limbs[]): number {
    new Int32Array(this.#memory.buffer, address, elements.length * LIMBS).set(elements.flat());
    return address;
  }

  /** Writes numbers in Montgomery form. */
  write(address: number, numbers: readonly bigint[]): number {
    return this.put(
      address,
      numbers.map((number) => smallLimbs(modulo(number << MONTGOMERY_BITS))),
    );
  }

  bytes(address: number, count: number): Uint8Array {
    return new Uint8Array(this.#memory.buffer, address, count);
  }

  limbs(address: number, elements: number): number[][] {
    const words = new Int32Array(this.#memory.buffer, address, elements * LIMBS);
    return Array.from({ length: elements }, (_, index) => [...words.subarray(index * LIMBS, (index + 1) * LIMBS)]);
  }

  /** The numbers of small elements. @throws if one is not small */
  read(address: number, elements: number): bigint[] {
    return this.limbs(address, elements).map((limbs) => {
      assertSmall(limbs);
      return modulo(fromLimbs(limbs) * R_INVERSE);
    });
  }
}

/** A canonical number as a small element. */
export function smallLimbs(number: bigint): number[] {
  return toLimbs(2n * number > q ? number - q : number).map(Number);
}

export function assertSmall(limbs: Limbs): void {
  const value = fromLimbs(limbs);
  const limb = limbs.slice(0, -1).find((limb) => Math.abs(limb) > Number(SMALL_LIMB));
  if (limb !== undefined) throw new Error(`the limb ${limb} is not small`);
  if (10n * (value < 0n ? -value : value) > 6n * q) throw new Error(`the value ${value} is not small`);
}

/** An element of Fq12: the coefficients of 1, v, v^2, w, vw and v^2·w, two numbers each. */
export type Target = readonly Pair[];

/** The power of w at each place. */
const POWERS = [0, 2, 4, 1, 3, 5];
const xi: Pair = [BigInt(XI[0]), BigInt(XI[1])];

/** The product modulo w^6 - XI, by its definition. */
export function multiplyTargets(a: Target, b: Target): Target {
  const sums: Pair[] = Array.from({ length: 6 }, () => [0n, 0n]);
  for (const [i, left] of a.entries()) {
    for (const [j, right] of b.entries()) {
      const power = (POWERS[i] as number) + (POWERS[j] as number);
      const product = multiplyPairs(left, right);
      const [real, imaginary] = power >= 6 ? multiplyPairs(product, xi) : product;
      const place = POWERS.indexOf(power % 6);
      const [sumReal, sumImaginary] = sums[place] as Pair;
      sums[place] = [modulo(sumReal + real), modulo(sumImaginary + imaginary)];
    }
  }
  return sums;
}

export const ONE_TARGET: Target = Array.from({ length: 6 }, (_, index): Pair => [index === 0 ? 1n : 0n, 0n]);

export function powerOfTarget(base: Target, exponent: bigint): Target {
  let result = ONE_TARGET;
  for (const bit of exponent.toString(2)) {
    result = multiplyTargets(result, result);
    if (bit === "1") result = multiplyTargets(result, base);
  }
  return result;
}

export const toTarget = (numbers: readonly bigint[]): Target =>
  Array.from({ length: 6 }, (_, index): Pair => [numbers[2 * index] as bigint, numbers[2 * index + 1] as bigint]);
