/**
 * The kernel that hashes: Poseidon's permutation of two states at once, in the form of `PoseidonRecurrence`.
 *
 * Bounds, in multiples of p. Inputs of S-boxes and all u of the history are below 0.51 in absolute value, because `reduce`
 * subtracts the nearest multiple of p. A product of values below a and b is below 0.378 a·b + 0.5, because p/R is 0.378, so
 * an S-box returns less than 0.63: squares below 0.6 and 0.64, then 0.378·0.51·0.64 + 0.5. The numbers of matrices and the
 * coefficients are between -0.5 and 0.5, so a sum of n products with values below b is below 0.189 n·b + 0.5. The largest
 * sum is the one of a partial round: with MAX_WIDTH lanes, it has 7 u and 8 y and is below 0.189 (7·0.51 + 8·0.63) + 0.5 =
 * 2.13. A sum must be below 2.6, so that its last limb stays below 2^51.
 */

import {
  bitsOf,
  type Code,
  compileKernel,
  type FieldEmitter,
  type FunctionBuilder,
  f64x2,
  i32,
  i64x2,
  increase,
  LIMBS,
  type Local,
  loop,
  MONTGOMERY_BITS,
  type ModuleBuilder,
  type Operand,
  PAIR_BYTES,
  type Product,
  type Program,
  pairAt,
  RADIX_BITS,
  toLimbs,
  toWords,
  v128,
} from "@sotto/groth16/kernel";
import { FIELD_MODULUS, poseidonRecurrence } from "@sotto/protocol";

/** Maximum lanes of a state: see the bounds above. */
const MAX_WIDTH = 8;
/** Bytes of a number from 0 to p - 1 of each of two states: four words of 64 bits, least significant first, in two lanes. */
export const WORDS_BYTES = 64;

/** @param width lanes of a state, 2 to 8 */
export function compilePoseidonKernel(width: number): Program {
  if (width < 2 || width > MAX_WIDTH) throw new Error(`the kernel permutes 2 to ${MAX_WIDTH} lanes, not ${width}`);
  return compileKernel(FIELD_MODULUS, (module, field) => definePermute(module, field, width));
}

/**
 * permute(input, end, output, outputs): for each two states, the first `outputs` lanes of the permutation.
 *
 * Numbers are not converted to Montgomery form and back. In the first round, neither the inputs nor the constants are in
 * Montgomery form, so the S-boxes return the fifth power divided by R^4, and the matrix makes up for it. The matrix of the
 * last round is not in Montgomery form, so that its products are not either.
 */
function definePermute(module: ModuleBuilder, field: FieldEmitter, width: number): void {
  const { full, matrix, entry, entryConstants, coefficients, partial, exit } = poseidonRecurrence(width);
  const lanes = Array.from({ length: width }, (_, lane) => lane);
  const n = width - 1;
  const [firstRound, lastRound, half] = [0, full.length - 1, full.length / 2];
  const scratch = (count: number): number => Array.from({ length: count }, () => field.pool.scratch())[0] as number;
  const state = scratch(width);
  const boxes = scratch(width);
  // From y_(-n) to the last u. The u before u_0 are never written.
  const history = scratch(2 * (n + partial.length));

  const factors = full.map((_, round) => {
    const power = round === firstRound ? 6n : round === lastRound ? 0n : 1n;
    return placeFactors(field, (round === half - 1 ? entry : matrix).flat(), power);
  });
  const constants = full.map((row, round) => placeConstants(field, row, round === firstRound ? 0n : 1n));
  const entering = placeConstants(field, entryConstants);
  const recurring = placeConstants(field, partial);
  const weights = placeFactors(field, coefficients);
  const exits = placeFactors(field, exit.flat());

  const input = defineInput(module, field);
  const { sbox, sboxes } = defineBoxes(module, field);
  const mix = defineSum(module, field, "mix", width);
  const recur = defineSum(module, field, "recur", coefficients.length);
  const leave = defineSum(module, field, "leave", 2 * n);
  const output = defineOutput(module, field, width);
  const addConstant = module.define("addConstant", ["i32", "i32", "i32"], (f) => {
    const [out, value, constant] = f.params as [Local, Local, Local];
    return reduce(f, field, out.get, pairAt(value.get), constant.get);
  });

  const nth = (start: number, index: number): Code => i32.const(start + index * PAIR_BYTES);
  const applyBoxes: Code = lanes.map((lane) => {
    if (lane % 2 === 1) return [];
    const [from, to] = [nth(state, lane), nth(boxes, lane)];
    return lane === n ? sbox(to, from) : sboxes(to, nth(boxes, lane + 1), from, nth(state, lane + 1));
  });
  const mixRow = (out: Code, round: number, lane: number, constant: Code): Code =>
    mix(out, nth(factors[round]!, lane * width), nth(boxes, 0), constant);
  const fullRound = (round: number): Code => [
    applyBoxes,
    lanes.map((lane) => mixRow(nth(state, lane), round, lane, nth(constants[round + 1]!, lane))),
  ];
  const lastFullRoundBefore: Code = [
    applyBoxes,
    // u_0 and the y before y_0.
    lanes.map((lane) =>
      mixRow(nth(history, lane === 0 ? 2 * n - 1 : 2 * (n - lane)), half - 1, lane, nth(entering, lane)),
    ),
  ];

  module.define("permute", ["i32", "i32", "i32", "i32"], (f) => {
    const [from, end, to, outputs] = f.params as [Local, Local, Local, Local];
    const [window, constant, row, rowsEnd] = f.locals("i32", 4) as [Local, Local, Local, Local];
    const after = (index: number): Code => i32.add(window.get, i32.const(index * PAIR_BYTES));
    return loop(
      i32.ltU(from.get, end.get),
      lanes.map((lane) => [input(nth(state, lane), from.get, nth(constants[0]!, lane)), increase(from, WORDS_BYTES)]),
      Array.from({ length: half - 1 }, (_, round) => fullRound(round)),
      lastFullRoundBefore,
      window.set(i32.const(history)),
      constant.set(i32.const(recurring)),
      loop(
        i32.ltU(window.get, nth(history, 2 * partial.length)),
        sbox(after(2 * n), after(2 * n - 1)),
        recur(after(2 * n + 1), i32.const(weights), window.get, constant.get),
        increase(window, 2 * PAIR_BYTES),
        increase(constant, PAIR_BYTES),
      ),
      addConstant(nth(state, 0), after(2 * n - 1), nth(constants[half]!, 0)),
      exit.map((_, index) =>
        leave(nth(state, index + 1), nth(exits, 2 * n * index), window.get, nth(constants[half]!, index + 1)),
      ),
      Array.from({ length: half - 1 }, (_, round) => fullRound(half + round)),
      applyBoxes,
      row.set(i32.const(factors[lastRound]!)),
      rowsEnd.set(i32.add(row.get, i32.mul(outputs.get, i32.const(width * PAIR_BYTES)))),
      loop(
        i32.ltU(row.get, rowsEnd.get),
        output(to.get, row.get, nth(boxes, 0)),
        increase(row, width * PAIR_BYTES),
        increase(to, WORDS_BYTES),
      ),
    );
  });
}

/** Constants are stored negated, times R to this power, from 0 to p - 1. */
function placeConstants({ pool }: FieldEmitter, numbers: readonly bigint[], power = 1n): number {
  return pool.bits(...numbers.flatMap((number) => toLimbs(scaled(FIELD_MODULUS - number, power)).map(bitsOf)));
}

/** Factors are stored times R to this power, from -p/2 to p/2. */
function placeFactors({ pool }: FieldEmitter, numbers: readonly bigint[], power = 1n): number {
  const limbsOf = (number: bigint): number[] =>
    2n * number < FIELD_MODULUS ? toLimbs(number) : toLimbs(FIELD_MODULUS - number).map((limb) => -limb);
  return pool.bits(...numbers.flatMap((number) => limbsOf(scaled(number, power)).map(bitsOf)));
}

function scaled(number: bigint, power: bigint): bigint {
  return (number << (power * MONTGOMERY_BITS)) % FIELD_MODULUS;
}

/** input(out, words, constant): the number plus the constant. */
function defineInput(module: ModuleBuilder, field: FieldEmitter): (out: Code, words: Code, constant: Code) => Code {
  const two52 = v128.load(i32.const(0), field.pool.double(2 ** 52));
  const mask = v128.load(i32.const(0), field.pool.bits((1n << RADIX_BITS) - 1n));
  return module.define("input", ["i32", "i32", "i32"], (f) => {
    const [out, words, constant] = f.params as [Local, Local, Local];
    const word = (index: number): Code => v128.load(words.get, 16 * index);
    // Limb i is bits 51 i to 51 i + 51, which start in word 51 i / 64.
    const limb: Operand = (index) => {
      const [start, offset] = [Math.floor((51 * index) / 64), (51 * index) % 64];
      const low = i64x2.shrU(word(start), offset);
      const both = offset > 13 && start < 3 ? v128.or(low, i64x2.shl(word(start + 1), 64 - offset)) : low;
      return f64x2.sub(v128.or(v128.and(both, mask), two52), two52);
    };
    return reduce(f, field, out.get, limb, constant.get);
  }) as (out: Code, words: Code, constant: Code) => Code;
}

/** sbox(out, value): the fifth power. sboxes(out, out2, value, value2): two of them. */
function defineBoxes(module: ModuleBuilder, field: FieldEmitter) {
  const [square, square2] = [field.pool.scratch(), field.pool.scratch()];
  /** The square, the square of that, and that times the value. */
  const steps = (out: Local, value: Local, squares: number): { out: Code; product: Product }[] => {
    const [x, y] = [pairAt(value.get), pairAt(i32.const(squares))];
    return [
      { out: i32.const(squares), product: { left: x, right: x } },
      { out: i32.const(squares), product: { left: y, right: y } },
      { out: out.get, product: { left: x, right: y } },
    ];
  };
  const sbox = module.define("sbox", ["i32", "i32"], (f) => {
    const [out, value] = f.params as [Local, Local];
    return steps(out, value, square).map((step) => field.multiply(f, step.out, [step.product]));
  });
  const sboxes = module.define("sboxes", ["i32", "i32", "i32", "i32"], (f) => {
    const [out, out2, value, value2] = f.params as [Local, Local, Local, Local];
    const others = steps(out2, value2, square2);
    return steps(out, value, square).map((step, index) => field.multiplyTwo(f, step, others[index]!));
  });
  return { sbox, sboxes };
}

/** name(out, factors, values, constant): the sum of products of neighbouring factors and values, plus the constant. */
function defineSum(module: ModuleBuilder, field: FieldEmitter, name: string, terms: number) {
  const sum = i32.const(field.pool.scratch());
  return module.define(name, ["i32", "i32", "i32", "i32"], (f) => {
    const [out, factors, values, constant] = f.params as [Local, Local, Local, Local];
    return [
      field.multiply(f, sum, products(terms, factors, values)),
      reduce(f, field, out.get, pairAt(sum), constant.get),
    ];
  });
}

/** output(words, factors, values): the sum of products, from 0 to p - 1. */
function defineOutput(module: ModuleBuilder, field: FieldEmitter, terms: number) {
  const sum = i32.const(field.pool.scratch());
  return module.define("output", ["i32", "i32", "i32"], (f) => {
    const [out, factors, values] = f.params as [Local, Local, Local];
    // The sum is between -1.5 p and 1.5 p.
    const product = field.multiply(f, sum, products(terms, factors, values), { bias: 2, steps: [2, 1] });
    const { code, words } = toWords(f, field, pairAt(sum));
    return [product, code, words.map((word, index) => v128.store(out.get, word, 16 * index))];
  });
}

function products(count: number, factors: Local, values: Local): Product[] {
  return Array.from({ length: count }, (_, index) => ({
    left: pairAt(factors.get, index * PAIR_BYTES),
    right: pairAt(values.get, index * PAIR_BYTES),
  }));
}

/**
 * Stores value + constant, minus the multiple of p that leaves it below 0.51 p in absolute value, for a value below 2.2 p.
 * The limbs that are carried are below 2^53: value and stored constant differ by less than 2^51 in each of the first four,
 * and the multiple is at most 3. Only `addConstant` has a value with signed limbs, which was reduced before: they differ by
 * less than 2^52, and the multiple is at most 2.
 */
function reduce(f: FunctionBuilder, field: FieldEmitter, out: Code, value: Operand, constant: Code): Code {
  const double = (number: number): Code => v128.load(i32.const(0), field.pool.double(number));
  const multiple = f.local("v128");
  const difference = (limb: number): Code => f64x2.sub(value(limb), pairAt(constant)(limb));
  // Adding and subtracting it rounds to an integer.
  const round = double(1.5 * 2 ** 52);
  const perModulus = double(2 ** Number(RADIX_BITS * BigInt(LIMBS - 1)) / Number(field.modulus));
  const parts = toLimbs(field.modulus);
  return [
    multiple.set(f64x2.sub(f64x2.add(f64x2.mul(difference(LIMBS - 1), perModulus), round), round)),
    field.carry(f, out, (limb) => f64x2.madd(multiple.get, double(-(parts[limb] ?? 0)), difference(limb))),
  ];
}
