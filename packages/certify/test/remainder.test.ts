import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { Random } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { type Side, systemOf } from "../src/r1cs.ts";
import type { Determination } from "../src/steps.ts";
import { type Constraint, range } from "./random-circuit.ts";
import { expand, smallFieldRules } from "./small-field.ts";

/** Numbers of two bits fit into this field, but not always the product of two. */
const PRIME = 13;
const SYSTEMS = fuzzSize(2_000, 60_000);
const rules = await smallFieldRules(undefined, PRIME);
type Division = Determination & { rule: "division" };

const mod = (value: number): number => ((value % PRIME) + PRIME) % PRIME;
const [VALUE, DIVISOR, QUOTIENT, REMAINDER] = [1, 2, 3, 4];
/** The first wires of the bits of quotient, remainder, divisor and of the remainder less the divisor. */
const BITS = { quotient: 5, remainder: 7, divisor: 9, difference: 11 };
const WIRES = 13;

/** value = quotient divisor + remainder, with the divisor in a wire or as a constant. */
interface Circuit {
  readonly constant: number | undefined;
  /** Weights of the two bits of each number; undefined if no constraint gives its bits. */
  readonly weights: Readonly<Record<keyof typeof BITS, readonly [number, number] | undefined>>;
  /** remainder - divisor + limit is the number `difference`. */
  readonly limit: number;
}

function constraintsOf({ constant, weights, limit }: Circuit): Constraint[] {
  const side = (terms: Record<number, number>): Side =>
    Object.fromEntries(Object.entries(terms).map(([wire, k]) => [wire, BigInt(mod(k))]));
  const number = (name: keyof typeof BITS, terms: Record<number, number>): Constraint[] => {
    const [first, pair] = [BITS[name], weights[name]];
    if (pair === undefined) return [];
    return [
      [{}, {}, side({ ...terms, [first]: -pair[0], [first + 1]: -pair[1] })],
      ...[first, first + 1].map((wire): Constraint => [side({ [wire]: 1 }), side({ [wire]: 1, 0: -1 }), {}]),
    ];
  };
  const divisor = constant === undefined ? { [DIVISOR]: -1, 0: limit } : { 0: limit - constant };
  return [
    constant === undefined
      ? [side({ [QUOTIENT]: 1 }), side({ [DIVISOR]: 1 }), side({ [VALUE]: 1, [REMAINDER]: -1 })]
      : [{}, {}, side({ [QUOTIENT]: constant, [REMAINDER]: 1, [VALUE]: -1 })],
    ...number("quotient", { [QUOTIENT]: 1 }),
    ...number("remainder", { [REMAINDER]: 1 }),
    ...number("divisor", { [DIVISOR]: 1 }),
    ...number("difference", { [REMAINDER]: 1, ...divisor }),
  ];
}

/** Whether value and divisor determine quotient and remainder, by brute force. */
function isDetermined({ constant, weights, limit }: Circuit): boolean {
  const valuesOf = (name: keyof typeof BITS): Set<number> => {
    const pair = weights[name];
    return new Set(pair === undefined ? range(0, PRIME) : [0, pair[0], pair[1], pair[0] + pair[1]].map(mod));
  };
  const [quotients, remainders, divisors, differences] = [
    valuesOf("quotient"),
    valuesOf("remainder"),
    valuesOf("divisor"),
    valuesOf("difference"),
  ];
  const seen = new Map<string, string>();
  for (const wire of divisors)
    for (const quotient of quotients)
      for (const remainder of remainders) {
        const divisor = constant ?? wire;
        if (!differences.has(mod(remainder - divisor + limit))) continue;
        const given = `${mod(quotient * divisor + remainder)} ${wire}`;
        const found = `${quotient} ${remainder}`;
        if ((seen.get(given) ?? found) !== found) return false;
        seen.set(given, found);
      }
  return true;
}

function prove(circuit: Circuit) {
  const normalized = new rules.Normalized(systemOf(WIRES, 2, constraintsOf(circuit)));
  const facts = new rules.Facts(normalized);
  facts.scanConstraints();
  const determined = new rules.Determined(normalized, facts, [VALUE, DIVISOR], []);
  const linear = (constraint: number) =>
    normalized.isLinear(constraint)
      ? new Map([...expand(normalized, constraint)[2]].map(([wire, k]) => [wire, -k] as const))
      : undefined;
  const replays = (step: Division): boolean => {
    try {
      const isKnown = (wire: number) => [0, VALUE, DIVISOR].includes(wire);
      const isBit = (wire: number) => facts.booleans.has(wire);
      rules.replayDivision(step, { expand: (by) => expand(normalized, by), linear, isBit, isKnown });
      return true;
    } catch {
      return false;
    }
  };
  const steps = determined.steps.filter((step): step is Division => step.rule === "division");
  return { steps, replays, claims: [QUOTIENT, REMAINDER].every((wire) => determined.isDetermined(wire)) };
}

describe("divisions with remainder over the field of 13, against all numbers", function () {
  slow(this, "each of some thousand systems is solved by brute force");

  it("are determined only if they are, in both checkers and also with a forged proof", () => {
    const random = new Random("remainder");
    const seen = { steps: 0, forged: 0, refused: 0, free: 0 };
    for (let i = 0; i < SYSTEMS; i++) {
      const weights = () =>
        random.below(12) === 0
          ? undefined
          : random.below(3) > 0
            ? ([1, 2] as const)
            : ([random.below(PRIME), random.below(PRIME)] as const);
      const circuit: Circuit = {
        constant: random.below(2) === 0 ? undefined : random.below(PRIME),
        weights: {
          quotient: random.below(2) === 0 ? ([1, 0] as const) : weights(),
          remainder: weights(),
          divisor: weights(),
          difference: weights(),
        },
        limit: random.below(2) === 0 ? 4 : random.below(PRIME),
      };
      const { steps, replays, claims } = prove(circuit);
      const really = isDetermined(circuit);
      const shown = `system ${i}: ${JSON.stringify(circuit)}`;
      if (!really) seen.free++;
      if (claims) expect(really, shown).to.equal(true);
      const { length } = constraintsOf(circuit);
      for (const step of steps) {
        seen.steps++;
        expect(replays(step), shown).to.equal(true);
      }
      // A proof from the constraints of the whole circuit, or from random ones.
      for (let times = 0; times < 4; times++) {
        const any = () => random.below(length + 1) - 1;
        const step: Division = {
          rule: "division",
          by: 0,
          quotient: QUOTIENT,
          remainder: REMAINDER,
          ...(circuit.constant === undefined ? { divisor: DIVISOR } : {}),
          ranges: times === 0 ? [1, 4, 7] : [any(), any(), any()],
          less:
            random.below(2) === 0 ? [] : [{ by: times === 0 ? 10 : any(), scale: BigInt(1 + random.below(PRIME - 1)) }],
        };
        if (replays(step)) {
          seen.forged++;
          expect(really, shown).to.equal(true);
        } else seen.refused++;
      }
    }
    for (const [name, times] of Object.entries(seen)) expect(times, name).to.be.above(SYSTEMS / 50);
  });
});
