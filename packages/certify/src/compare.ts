import { DisjointSets } from "./disjoint-sets.ts";
import { inverse, mod, P, smallest } from "./field.ts";
import type { Form } from "./form.ts";
import type { Normalized } from "./normalize.ts";
import { absolute, add, type Range } from "./ranges.ts";
import type { Comparison, Scaled } from "./steps.ts";

// Comparisons of a number, given by its bits, with a constant. circomlib's CompConstant is one. docs/certificate.md has the
// argument ("Comparisons").

/** Maximum number of bits that products connect with each other. */
const MAX_GROUP = 4;
/** Maximum number of bounds that are tried for one sum. */
const MAX_GUESSES = 4;
/** Maximum number of constraints that are added up. */
const MAX_CONSTRAINTS = 2_000;

/** The exponents of the powers of 2 below the prime. */
const EXPONENTS: ReadonlyMap<bigint, number> = powersOfTwo();

function powersOfTwo(): Map<bigint, number> {
  const exponentOf = new Map<bigint, number>();
  for (let exponent = 0; 1n << BigInt(exponent) < P; exponent++) exponentOf.set(1n << BigInt(exponent), exponent);
  return exponentOf;
}

/** Bits whose sum, each times its power of 2, can reach the prime. */
interface Digits {
  readonly wires: readonly number[];
  readonly exponents: readonly number[];
}

/** A sum over bits that is 0 modulo P: products of forms, single bits and a constant. */
interface Equation {
  readonly terms: readonly Scaled[];
  readonly products: readonly { readonly scale: bigint; readonly a: Form; readonly b: Form }[];
  readonly linear: ReadonlyMap<number, bigint>;
  readonly constant: bigint;
}

/** Bits that products connect, and the value of their terms for each choice: bit i of a choice is the value of wires[i]. */
interface Group {
  readonly wires: readonly number[];
  readonly values: readonly bigint[];
}

/** A group of bits of the number. */
interface Digit extends Group {
  readonly exponents: readonly number[];
}

const ZERO: Range = { low: 0n, high: 0n };
const shift = ({ low, high }: Range, by: bigint): Range => ({ low: low + by, high: high + by });
export const inOrder = (values: readonly bigint[]): bigint[] =>
  [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
const rangeOf = (values: readonly bigint[]): Range => {
  const order = inOrder(values);
  return { low: order[0] as bigint, high: order.at(-1) as bigint };
};
const hull = (ranges: readonly (Range | undefined)[]): Range | undefined => {
  const known = ranges.filter((range) => range !== undefined);
  return known.length === 0 ? undefined : rangeOf(known.flatMap(({ low, high }) => [low, high]));
};
const hasMultiple = ({ low, high }: Range, modulus: bigint): boolean =>
  high - low >= modulus || smallestAbove(low, modulus) <= high;
const smallestAbove = (low: bigint, modulus: bigint): bigint => low + (((-low % modulus) + modulus) % modulus);

/** Comparisons of the numbers that can reach the prime: only for those is a bound of use. */
export function findComparisons(system: Normalized, booleans: ReadonlySet<number>): Comparison[] {
  const found: Comparison[] = [];
  for (let by = 0; by < system.system.constraints; by++) {
    const digits = digitsOf(system, booleans, by);
    if (digits === undefined) continue;
    const top = digits.wires[digits.exponents.indexOf(Math.max(...digits.exponents))] as number;
    for (const start of system.uses(top)) {
      if (start === by) continue;
      const equation = sumOfBits(system, (wire) => booleans.has(wire), start);
      if (equation !== undefined) found.push(...compare(equation, digits));
    }
  }
  return found;
}

function digitsOf(system: Normalized, booleans: ReadonlySet<number>, by: number): Digits | undefined {
  const sum = system.sides(by)?.at(-1);
  if (sum === undefined || sum.wires.length < EXPONENTS.size) return undefined;
  const terms = sum.wires.map((wire, i) => [wire, sum.coefficients[i] as bigint] as const);
  const bits = terms.filter(([wire]) => booleans.has(wire));
  // Fewer cannot reach the prime, and of more two would be at one place.
  if (bits.length !== EXPONENTS.size) return undefined;
  for (const [, unit] of bits) {
    const factor = inverse(unit);
    const exponents = bits.map(([, value]) => EXPONENTS.get((value * factor) % P));
    if (exponents.includes(undefined) || new Set(exponents).size < bits.length) continue;
    return { wires: bits.map(([wire]) => wire), exponents: exponents as number[] };
  }
  return undefined;
}

/** Adds multiples of other constraints until only bits, or other wires that may stay, are left. Each other wire is replaced once. */
export function sumOfBits(
  system: Normalized,
  stays: (wire: number) => boolean,
  start: number,
  limit = MAX_CONSTRAINTS,
): Equation | undefined {
  const terms: Scaled[] = [];
  const products: { scale: bigint; a: Form; b: Form }[] = [];
  const linear = new Map<number, bigint>();
  let constant = 0n;
  const isBits = (form: Form) => form.wires.every(stays);
  const used = new Set<number>();
  const replaced = new Set<number>();
  const open: number[] = [];
  const include = (by: number, scale: bigint) => {
    const sides = system.sides(by) as readonly Form[];
    const [a, b, c] = sides.length === 3 ? sides : [undefined, undefined, ...sides];
    used.add(by);
    terms.push({ by, scale });
    if (a !== undefined && b !== undefined) products.push({ scale, a, b });
    const sum = c as Form;
    constant -= scale * sum.constant;
    for (const [i, wire] of sum.wires.entries()) {
      if (!stays(wire) && !linear.has(wire)) open.push(wire);
      linear.set(wire, mod((linear.get(wire) ?? 0n) - scale * (sum.coefficients[i] as bigint)));
    }
  };
  const isUsable = (by: number) => {
    const sides = system.sides(by) as readonly Form[];
    return !used.has(by) && (sides.length === 1 || sides.slice(0, 2).every(isBits));
  };
  if (!isUsable(start)) return undefined;
  include(start, 1n);
  for (let wire = open.pop(); wire !== undefined; wire = open.pop()) {
    const value = linear.get(wire) as bigint;
    linear.delete(wire);
    if (value === 0n) continue;
    const by = system.uses(wire).find(isUsable);
    if (by === undefined || replaced.has(wire) || used.size === limit) return undefined;
    replaced.add(wire);
    const sum = (system.sides(by) as readonly Form[]).at(-1) as Form;
    const coefficient = sum.coefficients[sum.wires.indexOf(wire)] as bigint;
    linear.set(wire, value);
    include(by, mod(value * inverse(coefficient)));
    if (linear.get(wire) !== 0n) return undefined;
    linear.delete(wire);
  }
  return { terms, products, linear, constant: mod(constant) };
}

function groupsOf({ products, linear }: Equation): Group[] | undefined {
  const sets = new DisjointSets();
  const wiresOf = ({ a, b }: { a: Form; b: Form }) => [...a.wires, ...b.wires];
  for (const product of products) {
    const [first, ...others] = wiresOf(product) as [number, ...number[]];
    for (const wire of others) sets.join(wire, first);
  }
  const members = new Map<number, number[]>();
  for (const wire of new Set([...linear.keys(), ...products.flatMap(wiresOf)])) {
    const list = members.get(sets.find(wire)) ?? [];
    list.push(wire);
    if (list.length > MAX_GROUP) return undefined;
    members.set(sets.find(wire), list);
  }
  const productsOf = new Map<number, Equation["products"][number][]>();
  for (const product of products) {
    const root = sets.find(wiresOf(product)[0] as number);
    productsOf.set(root, [...(productsOf.get(root) ?? []), product]);
  }
  return [...members].map(([root, wires]) => ({
    wires,
    values: Array.from({ length: 2 ** wires.length }, (_, choice) => {
      const bit = (wire: number) => BigInt((choice >> wires.indexOf(wire)) & 1);
      const at = (form: Form) =>
        form.wires.reduce((sum, wire, i) => sum + (form.coefficients[i] as bigint) * bit(wire), form.constant);
      const total = (productsOf.get(root) ?? []).reduce((sum, { scale, a, b }) => sum + scale * at(a) * at(b), 0n);
      return mod(wires.reduce((sum, wire) => sum + (linear.get(wire) ?? 0n) * bit(wire), total));
    }),
  }));
}

/** Scales an equation so that its terms are integers whose sum is 0: in absolute value, they add up to less than P. */
function asIntegers(
  groups: readonly Group[],
  constant: bigint,
): { scale: bigint; groups: Group[]; rest: bigint } | undefined {
  const units = groups.flatMap(({ wires, values }) => (wires.length === 1 ? [values[1] as bigint] : []));
  for (const unit of [1n, ...new Set(units)]) {
    if (unit === 0n) continue;
    const scale = inverse(unit);
    const integers = groups.map(({ wires, values }) => ({
      wires,
      values: values.map((value) => smallest(value * scale)),
    }));
    const rest = smallest(constant * scale);
    const { low, high } = shift(integers.map(({ values }) => rangeOf(values)).reduce(add, ZERO), rest);
    if (-P < low && high < P) return { scale, groups: integers, rest };
  }
  return undefined;
}

/** The bound that an equation gives; without one, what single bits of it say about a bound. */
function compare(equation: Equation, digits: Digits): Comparison[] {
  const parts = groupsOf(equation);
  const integers = parts && asIntegers(parts, equation.constant);
  if (integers === undefined) return [];
  const exponentOf = new Map(digits.wires.map((wire, i) => [wire, digits.exponents[i] as number]));
  const inNumber = ({ wires }: Group) => wires.some((wire) => exponentOf.has(wire));
  const number = integers.groups.filter(inNumber).map((group) => ({
    ...group,
    exponents: group.wires.map((wire) => exponentOf.get(wire)),
  }));
  const others = integers.groups.filter((group) => !inNumber(group));
  if (number.flatMap(({ wires }) => wires).length !== exponentOf.size) return [];
  if (number.some(({ exponents }) => exponents.includes(undefined))) return [];
  const ordered = number as Digit[];
  ordered.sort((a, b) => Math.max(...a.exponents) - Math.max(...b.exponents));
  for (const [i, { exponents }] of ordered.entries())
    if (i > 0 && Math.min(...exponents) < Math.max(...(ordered[i - 1] as Digit).exponents)) return [];
  // A product of two forms in one bit also has a value for 0.
  const singles = others.filter(({ wires, values }) => wires.length === 1 && values[0] === 0n);
  const sizes = singles.map(({ values: [, value = 0n] }) => (value < 0n ? -value : value));
  const base = {
    terms: equation.terms.map(({ by, scale }) => ({ by, scale: mod(scale * integers.scale) })),
    wires: digits.wires,
    exponents: digits.exponents,
  };
  const conditional: Comparison[] = [];
  const moduli = [...new Set(sizes.flatMap((size) => [size, 2n * size]))].filter((modulus) => modulus > 1n);
  for (const [modulus, bound] of moduli.flatMap((one) =>
    boundsOf(ordered, one).map((bound) => [one, bound] as const),
  )) {
    if (bound >= P) continue;
    const { least, most, equal } = sumsOf(ordered, bound, modulus);
    const sumOfOthers = (except?: Group) =>
      shift(
        others
          .filter((group) => group !== except)
          .map(({ values }) => rangeOf(values.map((value) => smallest(value, modulus))))
          .reduce(add, ZERO),
        integers.rest + equal,
      );
    const excludes = (range: Range | undefined, rest: Range) =>
      range === undefined || !hasMultiple(add(range, rest), modulus);
    if (excludes(most, sumOfOthers())) return [{ ...base, modulus, bound }];
    for (const out of singles) {
      const rest = sumOfOthers(out);
      const one = smallest(out.values[1] as bigint, modulus);
      if (2n * one !== modulus) continue;
      if (excludes(most, rest) && excludes(least, shift(rest, one)))
        conditional.push({ ...base, modulus, bound, out: out.wires[0] as number });
    }
  }
  return conditional;
}

/**
 * The bounds that an equation can have: for each group the choice from which all larger numbers move the sum in one
 * direction and all smaller ones in the other, by as little as possible. A wrong guess proves nothing.
 */
function boundsOf(groups: readonly Digit[], modulus: bigint): bigint[] {
  let bounds = [0n];
  for (const { values, exponents } of groups.toReversed()) {
    const order = [...values.keys()].sort((a, b) => (numberOf(exponents, a) < numberOf(exponents, b) ? -1 : 1));
    let best: { choices: number[]; size: bigint } | undefined;
    for (const [place, choice] of order.entries()) {
      const moves = order.map((other) => smallest((values[other] as bigint) - (values[choice] as bigint), modulus));
      const directions = moves.flatMap((move, i) => (i === place ? [] : [i < place ? -move : move]));
      if (!directions.every((move) => move < 0n) && !directions.every((move) => move > 0n)) continue;
      const size = inOrder(moves.map(absolute)).at(-1) as bigint;
      if (best === undefined || size < best.size) best = { choices: [choice], size };
      else if (size === best.size) best.choices.push(choice);
    }
    const digits = (best?.choices ?? []).map((choice) => numberOf(exponents, choice));
    bounds = bounds.flatMap((bound) => digits.map((digit) => bound + digit));
    if (bounds.length > MAX_GUESSES) return [];
  }
  return bounds;
}

const numberOf = (exponents: readonly number[], choice: number): bigint =>
  exponents.reduce((sum, exponent, i) => sum + (BigInt((choice >> i) & 1) << BigInt(exponent)), 0n);

/**
 * Intervals of the sum of all groups modulo `modulus`, less its value `equal` for the bound itself: if the number is at
 * most the bound, and if it is more.
 */
function sumsOf(
  groups: readonly Digit[],
  bound: bigint,
  modulus: bigint,
): { least: Range | undefined; most: Range | undefined; equal: bigint } {
  let below: Range | undefined;
  let above: Range | undefined;
  let equal = 0n;
  for (const { values, exponents } of groups) {
    const own = bound & numberOf(exponents, values.length - 1);
    const base = values.find((_, choice) => numberOf(exponents, choice) === own) as bigint;
    equal += base;
    const all = hull([below, ZERO, above]) as Range;
    const [less, more]: [Range[], Range[]] = [[], []];
    for (const [choice, value] of values.entries()) {
      const weight = numberOf(exponents, choice);
      if (weight !== own) (weight < own ? less : more).push(shift(all, smallest(value - base, modulus)));
    }
    [below, above] = [hull([below, ...less]), hull([above, ...more])];
  }
  return { least: hull([below, ZERO]), most: above, equal };
}
