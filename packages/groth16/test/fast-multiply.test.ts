import { randomBelow } from "@sotto/test-kit/random-below";
import { assert } from "chai";
import { compileKernel, type Write } from "../src/fast/assemble-kernel.ts";
import type { Code, Local } from "../src/fast/assembler.ts";
import { PAIR_BYTES } from "../src/fast/constants.ts";
import { exactProducts } from "../src/fast/exact-products.ts";
import { pairAt } from "../src/fast/field-functions.ts";
import { f64x2 } from "../src/fast/instructions.ts";
import { Kernel } from "../src/fast/kernel.ts";
import { fusedProducts, type MakeProducts } from "../src/fast/limb-products.ts";
import { fromLimbs, LIMBS, MONTGOMERY_BITS, toLimbs } from "../src/fast/limbs.ts";
import { BASE_FIELD_ORDER as q, SCALAR_FIELD_ORDER as r } from "../src/proof/orders.ts";

/** Number of random cases, of two lanes each. */
const ROUNDS = process.env["SOTTO_LONG"] === "1" ? 200_000 : 10_000;
const R = 1n << MONTGOMERY_BITS;
const [TOP, LIMIT] = [2 ** 50, 2 ** 51];

/** Five limbs, from the lowest. */
type Limbs = readonly number[];

/** The emitter's products as functions of a kernel. */
function compile(modulus: bigint, makeProducts: MakeProducts) {
  const write: Write = (module, field) => {
    const define = (name: string, pairs: number, write: (f: Local[], emit: typeof field, b: never) => Code) => {
      module.define(
        name,
        Array.from({ length: pairs }, () => "i32" as const),
        (f) => write(f.params as Local[], field, f as never),
      );
    };
    const at = (local: Local | undefined) => pairAt((local as Local).get);
    const out = (local: Local | undefined) => (local as Local).get;
    define("multiply", 3, ([to, a, b], emit, f) => emit.multiply(f, out(to), [{ left: at(a), right: at(b) }]));
    define("square", 2, ([to, a], emit, f) => {
      const both = at(a);
      return emit.multiply(f, out(to), [{ left: both, right: both }]);
    });
    define("multiplyTwo", 6, ([to, a, b, to2, c, d], emit, f) =>
      emit.multiplyTwo(
        f,
        { out: out(to), product: { left: at(a), right: at(b) } },
        { out: out(to2), product: { left: at(c), right: at(d) } },
      ),
    );
    define("multiplyAndSquare", 5, ([to, a, b, to2, c], emit, f) => {
      const both = at(c);
      const product = { left: at(a), right: at(b) };
      return emit.multiplyTwo(f, { out: out(to), product }, { out: out(to2), product: { left: both, right: both } });
    });
    // a b - c d + e e, and the canonical form of that minus an addend.
    const terms = (a?: Local, b?: Local, c?: Local, d?: Local, e?: Local) => {
      const both = at(e);
      return [
        { left: at(a), right: at(b) },
        { left: (limb: number) => f64x2.neg(at(c)(limb)), right: at(d) },
        { left: both, right: both },
      ];
    };
    define("three", 6, ([to, a, b, c, d, e], emit, f) => emit.multiply(f, out(to), terms(a, b, c, d, e)));
    define("canonical", 7, ([to, a, b, c, d, e, g], emit, f) =>
      emit.multiply(f, out(to), terms(a, b, c, d, e), {
        addends: [{ value: at(g), negative: true }],
        bias: 2,
        steps: [2, 1],
      }),
    );
    define("carry", 2, ([to, a], emit, f) => emit.carry(f, out(to), at(a)));
  };
  return compileKernel(modulus, write, makeProducts);
}

/** These tests need many numbers more than they need good ones: `randomBelow` takes longer than a product. */
const below = (bound: number): number => Math.floor(Math.random() * bound);
const pick = <T>(values: readonly T[]): T => values[below(values.length)] as T;

/** An integer up to the limit in absolute value, often at an edge. */
function limb(limit: number): number {
  const edges = [0, 1, limit / 2 - 1, limit / 2, limit / 2 + 1, limit - 1, limit];
  return (pick([1, -1]) as number) * (pick([true, false]) ? pick(edges) : below(limit + 1));
}

/** An operand whose last limb is up to `top` in absolute value: 2^50 is 1.32 p, 2^51 is 2.65 p. */
function operand(modulus: bigint, top = TOP): Limbs {
  if (below(4) > 0) return Array.from({ length: LIMBS }, (_, i) => limb(i === LIMBS - 1 ? top : LIMIT));
  const near = BigInt(top / TOP) * modulus + BigInt(below(5) - 2);
  return toLimbs(near).map((each) => each * pick([1, -1]));
}

for (const [name, modulus, makeProducts] of [
  ["base field", q, fusedProducts],
  ["scalar field", r, fusedProducts],
  ["base field without fused multiply-add", q, exactProducts],
  ["scalar field without fused multiply-add", r, exactProducts],
] as const) {
  describe(`fast engine: products in the ${name}, with limbs at their limits`, () => {
    let kernel: Kernel;
    let pairs: number[];
    before(async () => {
      kernel = await Kernel.instantiate(await compile(modulus, makeProducts));
      pairs = Array.from({ length: 8 }, () => kernel.allocate(PAIR_BYTES));
    });

    const write = (pair: number, lanes: readonly Limbs[]): bigint[] => {
      const doubles = kernel.doubles(pairs[pair]!, 2 * LIMBS);
      for (const [lane, limbs] of lanes.entries())
        for (const [i, each] of limbs.entries()) doubles[2 * i + lane] = each;
      return lanes.map((limbs) => fromLimbs(limbs));
    };
    const read = (pair: number): Limbs[] => {
      const doubles = kernel.doubles(pairs[pair]!, 2 * LIMBS);
      return [0, 1].map((lane) => Array.from({ length: LIMBS }, (_, i) => doubles[2 * i + lane]!));
    };
    const call = (function_: string, ...operands: number[]) =>
      kernel.call(function_, ...operands.map((pair) => pairs[pair]!));
    /** The result is sum/R within (1/2 + 2^-49) p, and its limbs are in the range that operands need. */
    const farthest = (((1n << 48n) + 1n) * modulus * R) >> 49n;
    const check = (limbs: Limbs, sum: bigint): void => {
      const value = fromLimbs(limbs);
      const difference = value * R - sum;
      if (difference % modulus !== 0n) assert.fail(`${limbs.join()} is not ${sum} / R`);
      const distance = difference < 0n ? -difference : difference;
      if (distance > farthest) assert.fail(`${limbs.join()} is too far from ${sum} / R`);
      if (limbs.some((each, i) => (i < LIMBS - 1 ? each < 0 : each < -LIMIT) || each >= LIMIT))
        assert.fail(`${limbs.join()}: a limb is out of range`);
    };
    const both = (write: () => Limbs): [Limbs, Limbs] => [write(), write()];

    it("multiplies and squares, one at a time and two at a time", () => {
      for (let round = 0; round < ROUNDS; round++) {
        const a = write(
          0,
          both(() => operand(modulus)),
        );
        const b = write(
          1,
          both(() => operand(modulus, 2 * TOP)),
        );
        const c = write(
          2,
          both(() => operand(modulus)),
        );
        const products = a.map((each, lane) => each * b[lane]!);
        const others = b.map((each, lane) => each * c[lane]!);
        call("multiply", 3, 0, 1);
        for (const [lane, limbs] of read(3).entries()) check(limbs, products[lane]!);
        call("square", 3, 2);
        for (const [lane, limbs] of read(3).entries()) check(limbs, c[lane]! ** 2n);
        call("multiplyTwo", 3, 0, 1, 4, 1, 2);
        for (const [lane, limbs] of read(3).entries()) check(limbs, products[lane]!);
        for (const [lane, limbs] of read(4).entries()) check(limbs, others[lane]!);
        call("multiplyAndSquare", 3, 0, 1, 4, 2);
        for (const [lane, limbs] of read(3).entries()) check(limbs, products[lane]!);
        for (const [lane, limbs] of read(4).entries()) check(limbs, c[lane]! ** 2n);
      }
    });

    it("adds three products, and reduces the sum with an addend to its canonical form", () => {
      // With canonical operands the sum is from -1.88 p to 1.26 p.
      const edges = [0n, 1n, modulus - 1n, modulus - 2n, modulus >> 1n];
      const canonicals = [...edges, ...Array.from({ length: 100 }, () => randomBelow(modulus))].map(toLimbs);
      for (let round = 0; round < ROUNDS / 2; round++) {
        const [a, b, c, d, e] = [0, 1, 2, 3, 4].map((pair) =>
          write(
            pair,
            both(() => operand(modulus)),
          ),
        ) as [bigint[], bigint[], bigint[], bigint[], bigint[]];
        const sums = a.map((each, lane) => each * b[lane]! - c[lane]! * d[lane]! + e[lane]! ** 2n);
        call("three", 5, 0, 1, 2, 3, 4);
        for (const [lane, limbs] of read(5).entries()) check(limbs, sums[lane]!);
        const canonical = Array.from({ length: 6 }, (_, pair) =>
          write(
            pair,
            both(() => pick(canonicals)),
          ),
        );
        call("canonical", 6, 0, 1, 2, 3, 4, 5);
        for (const [lane, limbs] of read(6).entries()) {
          const [a, b, c, d, e, addend] = canonical.map((each) => each[lane]!) as bigint[];
          const value = fromLimbs(limbs);
          const expected = a! * b! - c! * d! + e! * e! - addend! * R;
          if ((value * R - expected) % modulus !== 0n || value < 0n || value >= modulus)
            assert.fail(`${limbs.join()} is not ${expected} / R`);
          if (limbs.some((each) => each < 0 || each >= LIMIT)) assert.fail(`${limbs.join()} is not canonical`);
        }
      }
    });

    it("removes a digit of -2^50, whose products lie between two multiples of 2^51", () => {
      const inverse = (odd: bigint): bigint => {
        let result = 1n;
        for (let bits = 1n; bits < MONTGOMERY_BITS; bits *= 2n) result = (result * (2n - odd * result)) & (R - 1n);
        return result & (R - 1n);
      };
      for (let round = 0; round < ROUNDS / 10; round++) {
        const lanes = [0, 1].map(() => {
          const a = randomBelow(1n << 252n) | 1n;
          // The digits 0 to 2 of the product are 0, and digit 3 or, after adding this multiple of p, digit 4 is -2^50.
          const quotient = randomBelow(1n << 51n);
          const low = pick([1n << 203n, (1n << 254n) - ((quotient * modulus) << 153n)]);
          return [a, (low * inverse(a)) & (R - 1n)] as const;
        });
        write(
          0,
          lanes.map(([a]) => toLimbs(a)),
        );
        write(
          1,
          lanes.map(([, b]) => toLimbs(b)),
        );
        call("multiply", 3, 0, 1);
        for (const [lane, limbs] of read(3).entries()) check(limbs, lanes[lane]![0] * lanes[lane]![1]);
      }
    });

    it("carries limbs up to 2^53 to the next limb only", () => {
      for (let round = 0; round < ROUNDS / 10; round++) {
        const values = write(
          0,
          both(() => [limb(2 ** 53 - 2), limb(2 ** 53 - 2), limb(2 ** 53 - 2), limb(2 ** 53 - 2), limb(2 ** 52)]),
        );
        call("carry", 1, 0);
        for (const [lane, limbs] of read(1).entries()) {
          assert.equal(fromLimbs(limbs), values[lane]);
          assert.isTrue(limbs.slice(0, -1).every((each) => Math.abs(each) <= 2 ** 50 + 4));
        }
      }
    });
  });
}

describe("fast engine: the columns of a product", () => {
  it("refuses more products than a column can hold", () => {
    const compiled = (count: number) =>
      compileKernel(r, (module, field) => {
        module.define("sum", ["i32"], (f) => {
          const pair = pairAt(f.params[0]!.get);
          return field.multiply(
            f,
            f.params[0]!.get,
            Array.from({ length: count }, () => ({ left: pair, right: pair })),
          );
        });
      });
    compiled(4);
    assert.throws(() => compiled(100), /too many products/);
  });
});
