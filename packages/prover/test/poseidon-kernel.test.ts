import { fromLimbs, Kernel, LIMBS, MONTGOMERY_BITS, PAIR_BYTES, RADIX_BITS, toLimbs } from "@sotto/groth16/kernel";
import { FIELD_MODULUS as p, poseidonRecurrence } from "@sotto/protocol";
import { randomBelow } from "@sotto/test-kit/random-below";
import { assert } from "chai";
import { compilePoseidonKernel } from "../src/scan/poseidon-kernel.ts";

const ROUNDS = process.env["SOTTO_LONG"] === "1" ? 20_000 : 300;
/** The maximum width, which has the longest sums. */
const WIDTH = 8;
const TERMS = 2 * (WIDTH - 1) + 1;
const R = 1n << MONTGOMERY_BITS;
/** Limits in percent of p: of S-box outputs, of the other values, and of factors. */
const [BOXED, REDUCED, FACTOR] = [63n, 51n, 50n];

type Form = (value: bigint) => number[];

const magnitude = (value: bigint): bigint => (value < 0n ? -value : value);
/** As the kernel stores factors: all limbs have the sign of the number. */
const signed: Form = (value) => toLimbs(magnitude(value)).map((limb) => (value < 0n ? -limb : limb));
/** All limbs but the last are from `lowest` to `lowest` + 2^51 - 1: a product's lowest is 0, a reduced value's is -2^50. */
const split =
  (lowest: bigint): Form =>
  (value) => {
    const limbs: number[] = [];
    let rest = value;
    for (let limb = 0; limb < LIMBS - 1; limb++) {
      const low = BigInt.asUintN(Number(RADIX_BITS), rest - lowest) + lowest;
      limbs.push(Number(low));
      rest = (rest - low) >> RADIX_BITS;
    }
    return [...limbs, Number(rest)];
  };
const product = split(0n);
const balanced = split(-(1n << (RADIX_BITS - 1n)));

/** A number with this sign, up to the limit and often at it. */
function near(percent: bigint, sign: bigint): bigint {
  const limit = (percent * p) / 100n;
  return sign * (randomBelow(4n) > 0n ? limit - randomBelow(3n) : randomBelow(limit));
}

describe("the Poseidon kernel", () => {
  let kernel: Kernel;
  before(async () => {
    kernel = await Kernel.instantiate(compilePoseidonKernel(WIDTH));
  });

  const write = (address: number, lanes: readonly (readonly number[])[]): void => {
    const doubles = kernel.doubles(address, 2 * LIMBS);
    for (const [lane, limbs] of lanes.entries()) for (const [i, limb] of limbs.entries()) doubles[2 * i + lane] = limb;
  };
  const read = (address: number): number[][] => {
    const doubles = kernel.doubles(address, 2 * LIMBS);
    return [0, 1].map((lane) => Array.from({ length: LIMBS }, (_, i) => doubles[2 * i + lane]!));
  };
  /** Congruent to expected / R^power, below 0.51 p, with limbs like every other value's. */
  const checkReduced = (limbs: readonly number[], expected: bigint, power = 1n): void => {
    const value = fromLimbs(limbs);
    if (((value << (power * MONTGOMERY_BITS)) - expected) % p !== 0n) assert.fail(`${limbs.join()} is wrong`);
    if (100n * magnitude(value) > REDUCED * p) assert.fail(`${limbs.join()} is above 0.51 p`);
    if (limbs.slice(0, -1).some((limb) => Math.abs(limb) > 2 ** 50 + 4))
      assert.fail(`${limbs.join()}: a limb is too large`);
  };
  const constants = [0n, 1n, p >> 1n, p - 1n];
  const constant = (): bigint => constants[Number(randomBelow(6n))] ?? randomBelow(p);

  it("reduces the longest sum of products, with factors and values at their limits", () => {
    const [factors, values] = [kernel.allocate(TERMS * PAIR_BYTES), kernel.allocate(TERMS * PAIR_BYTES)];
    const [subtracted, out] = [kernel.allocate(PAIR_BYTES), kernel.allocate(PAIR_BYTES)];
    for (let round = 0; round < ROUNDS; round++) {
      const lanes = [0, 1].map(() => {
        // All products have the same sign, so that the sum is as far from 0 as it can be.
        const sign = randomBelow(2n) === 0n ? 1n : -1n;
        const terms = Array.from({ length: TERMS }, (_, term) => {
          const own = randomBelow(2n) === 0n ? 1n : -1n;
          return { factor: near(FACTOR, own), value: near(term % 2 === 0 ? BOXED : REDUCED, own * sign) };
        });
        const sum = terms.reduce((total, { factor, value }) => total + factor * value, 0n);
        return { terms, sum, constant: constant() };
      });
      for (let term = 0; term < TERMS; term++) {
        write(
          factors + term * PAIR_BYTES,
          lanes.map(({ terms }) => signed(terms[term]!.factor)),
        );
        write(
          values + term * PAIR_BYTES,
          lanes.map(({ terms }) => (term % 2 === 0 ? product : balanced)(terms[term]!.value)),
        );
      }
      write(
        subtracted,
        lanes.map(({ constant }) => toLimbs(constant)),
      );
      kernel.call("recur", out, factors, values, subtracted);
      for (const [lane, limbs] of read(out).entries())
        checkReduced(limbs, lanes[lane]!.sum - lanes[lane]!.constant * R);
    }
  });

  it("has the factors of every round, from -p/2 to p/2", async () => {
    const { constants } = compilePoseidonKernel(WIDTH);
    const { matrix, entry, coefficients, exit } = poseidonRecurrence(WIDTH);
    const rounds = [
      ["first", matrix.flat(), 6n],
      ["full", matrix.flat(), 1n],
      ["entry", entry.flat(), 1n],
      ["partial", coefficients, 1n],
      ["exit", exit.flat(), 1n],
      ["last", matrix.flat(), 0n],
    ] as const;
    for (const [name, numbers, power] of rounds) {
      const doubles = numbers.flatMap((number) => {
        const scaled = (number << (power * MONTGOMERY_BITS)) % p;
        return signed(2n * scaled < p ? scaled : scaled - p).flatMap((limb) => [limb, limb]);
      });
      assert.isTrue(Buffer.from(constants).includes(Buffer.from(Float64Array.from(doubles).buffer)), name);
    }
  });

  it("computes S-boxes and adds constants, from values at their limits", () => {
    const [from, to, from2, to2, subtracted] = Array.from({ length: 5 }, () => kernel.allocate(PAIR_BYTES)) as [
      number,
      number,
      number,
      number,
      number,
    ];
    for (let round = 0; round < ROUNDS; round++) {
      const [first, second] = [0, 1].map(() => [0, 1].map(() => near(REDUCED, randomBelow(2n) === 0n ? 1n : -1n))) as [
        bigint[],
        bigint[],
      ];
      write(from, first.map(balanced));
      write(from2, second.map(balanced));
      const checkBox = (limbs: readonly number[], value: bigint): void => {
        const box = fromLimbs(limbs);
        if (((box << (4n * MONTGOMERY_BITS)) - value ** 5n) % p !== 0n)
          assert.fail(`${limbs.join()} is not a fifth power`);
        if (100n * magnitude(box) > BOXED * p) assert.fail(`${limbs.join()} is above 0.63 p`);
        if (limbs.slice(0, -1).some((limb) => limb < 0 || limb >= 2 ** 51))
          assert.fail(`${limbs.join()}: a limb is out of range`);
      };
      kernel.call("sbox", to, from);
      for (const [lane, limbs] of read(to).entries()) checkBox(limbs, first[lane]!);
      kernel.call("sboxes", to, to2, from, from2);
      for (const [lane, limbs] of read(to).entries()) checkBox(limbs, first[lane]!);
      for (const [lane, limbs] of read(to2).entries()) checkBox(limbs, second[lane]!);
      const added = [constant(), constant()];
      write(subtracted, added.map(toLimbs));
      kernel.call("addConstant", to, from, subtracted);
      for (const [lane, limbs] of read(to).entries()) checkReduced(limbs, first[lane]! - added[lane]!, 0n);
    }
  });
});
