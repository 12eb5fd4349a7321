// The second checker's replay of a comparison: the number of some bits is at most a bound, or a bit tells whether it is.
// It multiplies the constraints out and bounds the sum for every place at which the number can first differ from the bound.
import type { CertificateFile } from "./certificate.ts";
import { centred, mod, P } from "./field.ts";
import { need } from "./need.ts";

type Compare = Extract<CertificateFile["facts"][number], { rule: "compare" }>;
type Terms = ReadonlyMap<number, bigint>;
type Interval = readonly [low: bigint, high: bigint];
/** A constraint's three sides; the constant is under 0. */
type Expand = (constraint: number) => readonly [Terms, Terms, Terms];

const MAX_BLOCK = 6;
const MAX_PLACE = 1_000;

/** Bits whose monomials belong together, and what these are worth for each choice of the bits. */
interface Block {
  readonly bits: readonly number[];
  readonly worth: readonly bigint[];
}

/** The coefficients of the scaled sum of constraints; a product of two bits is under both, the constant under none. */
function multiplyOut(
  terms: Compare["terms"],
  expand: Expand,
  isBit: (wire: number) => boolean,
): Map<string, [bits: number[], k: bigint]> {
  const total = new Map<string, [number[], bigint]>();
  const add = (keys: readonly number[], k: bigint) => {
    // A bit is its own square.
    const bits = [...new Set(keys)].filter((key) => key !== 0).sort((x, y) => x - y);
    const name = bits.join();
    total.set(name, [bits, mod((total.get(name)?.[1] ?? 0n) + k)]);
  };
  for (const { by, scale } of terms) {
    const [a, b, c] = expand(by);
    const isConstant = (side: Terms) => side.size === (side.has(0) ? 1 : 0);
    need(
      isConstant(a) || isConstant(b) || Math.max(a.size, b.size) <= MAX_BLOCK + 1,
      "too many bits are multiplied with each other",
    );
    // Before sums cancel: x x - x is 0 only for a bit.
    for (const [x, j] of a)
      for (const [y, k] of b) {
        need(x !== y || x === 0 || isBit(x), "the square of a wire that is not a bit");
        add([x, y], scale * j * k);
      }
    for (const [x, k] of c) add([x], -scale * k);
  }
  for (const [name, [, k]] of total) if (k === 0n) total.delete(name);
  return total;
}

function blocksOf(monomials: Iterable<readonly [readonly number[], bigint]>): Block[] {
  const neighbours = new Map<number, Set<number>>();
  const list = [...monomials].filter(([bits]) => bits.length > 0);
  for (const [bits] of list)
    for (const bit of bits) {
      const set = neighbours.get(bit) ?? new Set();
      for (const other of bits) set.add(other);
      neighbours.set(bit, set);
    }
  const blockOf = new Map<number, number[]>();
  for (const start of neighbours.keys()) {
    if (blockOf.has(start)) continue;
    const block = [start];
    for (const bit of block) {
      for (const next of neighbours.get(bit) as Set<number>) if (!block.includes(next)) block.push(next);
      need(block.length <= MAX_BLOCK, "too many bits are multiplied with each other");
    }
    for (const bit of block) blockOf.set(bit, block);
  }
  const parts = new Map<number[], (readonly [readonly number[], bigint])[]>();
  for (const one of list) {
    const block = blockOf.get(one[0][0] as number) as number[];
    const known = parts.get(block);
    if (known === undefined) parts.set(block, [one]);
    else known.push(one);
  }
  return [...parts].map(([bits, own]) => ({
    bits,
    worth: Array.from({ length: 1 << bits.length }, (_, choice) => {
      const set = new Set(bits.filter((_bit, i) => (choice & (1 << i)) !== 0));
      return centred(
        own.reduce((sum, [needed, k]) => (needed.every((bit) => set.has(bit)) ? sum + k : sum), 0n),
        P,
      );
    }),
  }));
}

function spanOf(values: readonly bigint[]): Interval {
  let [low, high] = [values[0] as bigint, values[0] as bigint];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}
const plus = ([a, b]: Interval, [c, d]: Interval): Interval => [a + c, b + d];

/** Throws unless the fact follows. `isBit` says which wires are 0 or 1. */
export function replayComparison(
  { terms, wires, exponents, bound, modulus, out }: Compare,
  expand: Expand,
  isBit: (wire: number) => boolean,
): void {
  need(modulus > 1n && bound >= 0n && bound < P, "a modulus or a bound outside its range");
  need(wires.length === exponents.length && new Set(exponents).size === exponents.length, "two bits at one place");
  need(
    wires.every((wire, i) => isBit(wire) && (exponents[i] as number) >= 0 && (exponents[i] as number) < MAX_PLACE),
    "a digit that is not a bit",
  );
  const monomials = [...multiplyOut(terms, expand, isBit).values()];
  for (const [bits] of monomials) need(bits.every(isBit), "a wire that is not a bit");
  const blocks = blocksOf(monomials);
  // The sum is 0 modulo P, and its absolute value is below P: it is 0.
  const rest = centred(monomials.find(([bits]) => bits.length === 0)?.[1] ?? 0n, P);
  const [low, high] = blocks.map(({ worth }) => spanOf(worth)).reduce(plus, [rest, rest]);
  need(low > -P && high < P, "the sum may exceed the prime");
  const place = new Map(wires.map((wire, i) => [wire, exponents[i] as number]));
  const weigh = (bits: readonly number[], choice: number) =>
    bits.reduce((sum, bit, i) => ((choice >> i) & 1 ? sum + 2n ** BigInt(place.get(bit) as number) : sum), 0n);
  /** What the sum is worth if the number is the bound and the bits outside the number are 0. */
  let atBound = rest;
  let seen = 0n;
  const digits = blocks
    .filter(({ bits }) => bits.some((bit) => place.has(bit)))
    .map(({ bits, worth }) => {
      need(
        bits.every((bit) => place.has(bit)),
        "a bit of the number and another one are multiplied",
      );
      const weights = worth.map((_, choice) => weigh(bits, choice));
      const own = bound & (weights.at(-1) as bigint);
      const base = worth[weights.indexOf(own)] as bigint;
      atBound += base;
      seen |= own;
      const moves = worth.map((k) => centred(k - base, modulus));
      return { places: bits.map((bit) => place.get(bit) as number), weights, own, moves };
    })
    .sort((x, y) => Math.max(...x.places) - Math.max(...y.places));
  need(seen === bound, "the bound has other bits than the number");
  need(digits.flatMap(({ places }) => places).length === wires.length, "a bit of the number is not compared");
  let top = -1;
  for (const { places } of digits) {
    need(Math.min(...places) > top, "bits of the number in another order");
    top = Math.max(...places);
  }
  const isOut = ({ bits }: Block) => bits.length === 1 && bits[0] === out;
  const others = blocks
    .filter((block) => !block.bits.some((bit) => place.has(bit)) && !isOut(block))
    .map(({ worth }) => spanOf(worth.map((k) => centred(k, modulus))))
    .reduce(plus, [atBound, atBound]);
  const result = out === undefined ? 0n : blocks.find(isOut)?.worth[1];
  need(result !== undefined && !place.has(out as number), "the result is not a bit of the sum");
  /** Nothing with a sum in this interval satisfies the equation. */
  const refuse = (sum: Interval) => {
    const [from, to] = plus(sum, others);
    need(from + (((-from % modulus) + modulus) % modulus) > to, "the comparison permits another number");
  };
  // The number may be the bound: then the result is not 1.
  if (out !== undefined) refuse([result, result]);
  // Otherwise there is a highest place at which they differ. Below it, every choice is possible.
  let lower: Interval = [0n, 0n];
  for (const { weights, own, moves } of digits) {
    for (const [choice, weight] of weights.entries()) {
      const sum = plus(lower, [moves[choice] as bigint, moves[choice] as bigint]);
      if (weight > own) refuse(sum);
      else if (weight < own && out !== undefined) refuse(plus(sum, [result, result]));
    }
    lower = plus(lower, spanOf(moves));
  }
}
