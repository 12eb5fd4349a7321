import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { Random } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { type Side, systemOf } from "../src/r1cs.ts";
import type { LongDivision } from "../src/steps.ts";
import { type Constraint, range } from "./random-circuit.ts";
import { expand, smallFieldRules } from "./small-field.ts";

/** The terms of an honest division stay below it; random weights do not. */
const PRIME = 31;
const SYSTEMS = fuzzSize(1_500, 40_000);
const rules = await smallFieldRules(undefined, PRIME);

const mod = (value: number): number => ((value % PRIME) + PRIME) % PRIME;
/** The dividend and the divisor are given; FLAG is 1 if remainder and divisor are equal, FACTOR shows it. */
const [DIVIDEND, DIVISOR, LOW, HIGH, REMAINDER, FLAG, FACTOR] = [1, 2, 3, 4, 5, 6, 7];
/** The first wires of the bits of remainder, divisor, difference and dividend. */
const BITS = { remainder: 8, divisor: 10, difference: 12, dividend: 15 } as const;
type Name = keyof typeof BITS;
const SIZES: Readonly<Record<Name, number>> = { remainder: 2, divisor: 2, difference: 3, dividend: 4 };
const LESS_BIT = BITS.difference + 2;
const WIRES = 19;

/** (the quotient's bits times their weights) * divisor + remainder = dividend. */
interface Circuit {
  readonly quotient: readonly [number, number];
  readonly weights: Readonly<Record<Name, readonly number[]>>;
  /** remainder - divisor + limit is the number `difference`. */
  readonly limit: number;
  /** The constraints left out: those of the flag, and those that name a number's bits. */
  readonly without: readonly (Name | "zero" | "one")[];
  /** (difference's highest bit + a) (flag + b) = c. */
  readonly checks: readonly (readonly [a: number, b: number, c: number])[];
}

const HONEST: Circuit = {
  quotient: [1, 2],
  weights: { remainder: [1, 2], divisor: [1, 2], difference: [1, 2, 4], dividend: [1, 2, 4, 8] },
  limit: 4,
  without: [],
  checks: [
    [0, 0, 0],
    [0, -1, 0],
  ],
};

const NOTHING: Constraint = [{}, {}, {}];

/** The same places for the same constraints in all circuits. */
function constraintsOf({ quotient, weights, limit, without, checks }: Circuit): Constraint[] {
  const side = (terms: Record<number, number>): Side =>
    Object.fromEntries(Object.entries(terms).map(([wire, k]) => [wire, BigInt(mod(k))]));
  const bit = (wire: number): Constraint => [side({ [wire]: 1 }), side({ [wire]: 1, 0: -1 }), {}];
  const number = (name: Name, terms: Record<number, number>): Constraint[] => [
    without.includes(name)
      ? NOTHING
      : [{}, {}, side({ ...terms, ...Object.fromEntries(weights[name].map((k, i) => [BITS[name] + i, -k])) })],
    ...range(BITS[name], SIZES[name]).map(bit),
  ];
  const difference = side({ [REMAINDER]: 1, [DIVISOR]: -1 });
  return [
    [
      side({ [LOW]: quotient[0], [HIGH]: quotient[1] }),
      side({ [DIVISOR]: 1 }),
      side({ [DIVIDEND]: 1, [REMAINDER]: -1 }),
    ],
    bit(LOW),
    bit(HIGH),
    ...number("remainder", { [REMAINDER]: 1 }),
    ...number("divisor", { [DIVISOR]: 1 }),
    ...number("difference", { [REMAINDER]: 1, [DIVISOR]: -1, 0: limit }),
    ...number("dividend", { [DIVIDEND]: 1 }),
    without.includes("zero") ? NOTHING : [difference, side({ [FLAG]: 1 }), {}],
    without.includes("one") ? NOTHING : [difference, side({ [FACTOR]: 1 }), side({ [FLAG]: -1, 0: 1 })],
    ...checks.map(
      ([a, b, c]): Constraint => [side({ [LESS_BIT]: 1, 0: a }), side({ [FLAG]: 1, 0: b }), side({ 0: c })],
    ),
  ];
}

/** Which of quotient and remainder dividend and divisor do not determine, by brute force. */
function freeWires({ quotient, weights, limit, without, checks }: Circuit): Set<number> {
  const free = new Set<number>();
  const sums = (list: readonly number[]) =>
    range(0, 2 ** list.length).map((choice) => mod(list.reduce((sum, k, i) => sum + k * ((choice >> i) & 1), 0)));
  const values = (name: Name) => new Set(without.includes(name) ? range(0, PRIME) : sums(weights[name]));
  const [remainders, divisors, dividends] = [values("remainder"), values("divisor"), values("dividend")];
  const differences = sums(weights.difference);
  const seen = new Map<string, readonly (readonly [wire: number, value: number])[]>();
  for (const divisor of divisors)
    for (const remainder of remainders) {
      const difference = mod(remainder - divisor);
      const less = [0, 1].filter(
        (bit) =>
          without.includes("difference") ||
          differences.some((sum, choice) => choice >> 2 === bit && sum === mod(difference + limit)),
      );
      const flags = range(0, PRIME).filter(
        (flag) =>
          (without.includes("zero") || difference === 0 || flag === 0) &&
          (without.includes("one") || difference !== 0 || flag === 1),
      );
      const isPossible = less.some((bit) =>
        flags.some((flag) => checks.every(([a, b, c]) => mod((bit + a) * (flag + b) - c) === 0)),
      );
      if (!isPossible) continue;
      for (const choice of range(0, 4)) {
        const product = ((choice & 1) * quotient[0] + (choice >> 1) * quotient[1]) * divisor;
        const dividend = mod(product + remainder);
        if (!dividends.has(dividend)) continue;
        const given = `${dividend} ${divisor}`;
        const found = [
          [LOW, choice & 1],
          [HIGH, choice >> 1],
          [REMAINDER, remainder],
        ] as const;
        for (const [i, [wire, value]] of (seen.get(given) ?? found).entries())
          if (found[i]?.[1] !== value) free.add(wire);
        seen.set(given, found);
      }
    }
  return free;
}

function prove(circuit: Circuit) {
  const normalized = new rules.Normalized(systemOf(WIRES, 2, constraintsOf(circuit)));
  const facts = new rules.Facts(normalized);
  facts.scanConstraints();
  const determined = new rules.Determined(normalized, facts, [DIVIDEND, DIVISOR], []);
  const linear = (constraint: number) =>
    normalized.isLinear(constraint)
      ? new Map([...expand(normalized, constraint)[2]].map(([wire, k]) => [wire, mod(-Number(k))] as const))
      : undefined;
  const replays = (step: LongDivision): boolean => {
    try {
      rules.replayLongDivision(step, {
        expand: (by) => expand(normalized, by),
        linear: (by) => {
          const terms = linear(by);
          return terms && new Map([...terms].map(([wire, k]) => [wire, BigInt(k)] as const));
        },
        isBit: (wire) => facts.booleans.has(wire),
        isKnown: (wire) => [0, DIVIDEND, DIVISOR].includes(wire),
      });
      return true;
    } catch {
      return false;
    }
  };
  const steps = determined.steps.filter((step): step is LongDivision => step.rule === "long_division");
  return { steps, replays, claims: [LOW, HIGH, REMAINDER].filter((wire) => determined.isDetermined(wire)) };
}

/** A copy with one part of it changed: a number, or an entry that is left out or twice there. */
function forged(step: LongDivision, random: Random): LongDivision {
  const change = (value: unknown): unknown => {
    if (typeof value === "bigint") return value + BigInt(1 - 2 * random.below(2)) * BigInt(1 + random.below(3));
    if (typeof value === "number") return random.below(WIRES + 4);
    if (Array.isArray(value)) {
      if (value.length === 0) return [random.below(WIRES)];
      const at = random.below(value.length);
      const kind = random.below(4);
      if (kind === 0) return value.toSpliced(at, 1);
      if (kind === 1) return [...value, value[at] as unknown];
      return value.with(at, change(value[at]));
    }
    const entries = Object.entries(value as object).filter(([key]) => key !== "rule");
    const [key, old] = entries[random.below(entries.length)] as [string, unknown];
    return { ...(value as object), [key]: change(old) };
  };
  return change(step) as LongDivision;
}

describe("divisions in limbs over the field of 31, against all numbers", function () {
  slow(this, "each of some thousand systems is solved by brute force");

  const [honest] = prove(HONEST).steps;

  it("are determined only if they are, in both checkers and also with a forged proof", () => {
    expect(freeWires(HONEST).size).to.equal(0);
    const random = new Random("long division");
    const seen = { steps: 0, forged: 0, refused: 0, free: 0, claims: 0 };
    const either = <Value>(usual: Value, other: () => Value): Value => (random.below(5) > 0 ? usual : other());
    const any = () => random.below(PRIME);
    for (let i = 0; i < SYSTEMS; i++) {
      const weights = (name: Name) =>
        either(HONEST.weights[name], () => HONEST.weights[name].map((k) => either(k, any)));
      const circuit: Circuit = {
        quotient: either(HONEST.quotient, () => [any(), any()]),
        weights: {
          remainder: weights("remainder"),
          divisor: weights("divisor"),
          difference: weights("difference"),
          dividend: weights("dividend"),
        },
        limit: either(HONEST.limit, any),
        without: either([], () => [
          (["remainder", "divisor", "difference", "dividend", "zero", "one"] as const)[random.below(6)] as Name,
        ]),
        checks: HONEST.checks.map((check) =>
          either(check, () => [random.below(3) - 1, random.below(3) - 1, random.below(2)]),
        ),
      };
      const { steps, replays, claims } = prove(circuit);
      const free = freeWires(circuit);
      const shown = `system ${i}: ${JSON.stringify(circuit)}`;
      if (free.size > 0) seen.free++;
      if (claims.length > 0) seen.claims++;
      expect(
        claims.filter((wire) => free.has(wire)),
        shown,
      ).to.deep.equal([]);
      for (const step of steps) {
        seen.steps++;
        expect(replays(step), shown).to.equal(true);
      }
      // The honest circuit's proof for this one, and changed proofs.
      for (let times = 0; times < 6; times++) {
        const proof = times === 0 ? (honest as LongDivision) : forged(steps[0] ?? (honest as LongDivision), random);
        if (!replays(proof)) {
          seen.refused++;
          continue;
        }
        seen.forged++;
        const wrong = [...proof.quotient, ...proof.remainder].filter(({ wire }) => free.has(wire));
        const text = JSON.stringify(proof, (_, value) => (typeof value === "bigint" ? `${value}` : value));
        expect(wrong, `${shown} ${text}`).to.deep.equal([]);
      }
    }
    for (const [name, times] of Object.entries(seen))
      expect(times, `${name} of ${JSON.stringify(seen)}`).to.be.above(SYSTEMS / 50);
  });
});
