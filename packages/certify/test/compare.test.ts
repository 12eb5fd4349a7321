import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { Random } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { certify } from "../src/outcome.ts";
import { systemOf } from "../src/r1cs.ts";
import { P } from "../src/replay/field.ts";
import type { Comparison } from "../src/steps.ts";
import { compile } from "./compiled.ts";
import { type Constraint, range } from "./random-circuit.ts";
import { expand, smallFieldRules } from "./small-field.ts";

/** Numbers of 13 bits over the field of 2^13 - 1: only 2^13 - 1 itself has two representations. */
const PRIME = 8191;
const BITS = 13;
const SYSTEMS = fuzzSize(150, 5_000);
const rules = await smallFieldRules(undefined, PRIME);

const fieldElement = (value: number): bigint => BigInt(((value % PRIME) + PRIME) % PRIME);

/** What two bits contribute to a sum, as coefficients of 1, the low bit, the high one and their product. */
type Part = [constant: number, low: number, high: number, both: number];
interface Compared {
  /** Pairs of bits from the lowest place; the last pair has only its low bit. */
  readonly parts: readonly Part[];
  /** Coefficients of the bits of the sum. */
  readonly weights: readonly number[];
  /** Whether the bit of the sum that says that the number exceeds the bound may be 1. */
  readonly isOpen: boolean;
}

/** circomlib's comparison with a constant, for 13 bits: a difference at place i adds -2^i or 2^i modulo 2^8. */
function compareWith(bound: number, isOpen: boolean): Compared {
  const parts = range(0, Math.ceil(BITS / 2)).map((i): Part => {
    const [more, less] = [256 - 2 ** i, 2 ** i];
    const digit = (bound >> (2 * i)) & 3;
    const value = (choice: number) => (choice > digit ? more : choice < digit ? less : 0);
    const [zero, low, high, both] = range(0, 4).map(value) as Part;
    return [zero, low - zero, high - zero, both - low - high + zero];
  });
  return { parts, weights: range(0, 11).map((i) => 2 ** i), isOpen };
}

const PLACE = 7;
const FIRST_BIT = 2;
const FIRST_SUM = FIRST_BIT + BITS;

/** Wire 1 is the number, the next are its bits, the bits of the sum, and the parts. */
function constraintsOf({ parts, weights, isOpen }: Compared): { wires: number; constraints: Constraint[] } {
  const firstPart = FIRST_SUM + weights.length;
  const isBit = (wire: number): Constraint => [{ [wire]: 1n }, { [wire]: 1n, 0: fieldElement(-1) }, {}];
  const constraints = range(FIRST_BIT, BITS + weights.length)
    .filter((wire) => isOpen || wire !== FIRST_SUM + PLACE)
    .map(isBit);
  constraints.push([{}, {}, { 1: fieldElement(-1), ...powers(FIRST_BIT, BITS) }]);
  for (const [i, [constant, low, high, both]] of parts.entries()) {
    const [a, b, part] = [FIRST_BIT + 2 * i, FIRST_BIT + 2 * i + 1, firstPart + i];
    const linear = { [part]: 1n, 0: fieldElement(-constant), [a]: fieldElement(-low) };
    if (b < FIRST_SUM)
      constraints.push([{ [a]: fieldElement(both) }, { [b]: 1n }, { ...linear, [b]: fieldElement(-high) }]);
    else constraints.push([{}, {}, linear]);
  }
  const sum = Object.fromEntries(weights.map((weight, i) => [FIRST_SUM + i, fieldElement(weight)]));
  constraints.push([{}, {}, { ...sum, ...Object.fromEntries(parts.map((_, i) => [firstPart + i, fieldElement(-1)])) }]);
  if (!isOpen) constraints.push([{}, {}, { [FIRST_SUM + PLACE]: 1n }]);
  return { wires: firstPart + parts.length, constraints };
}

const powers = (first: number, count: number) =>
  Object.fromEntries(range(0, count).map((i) => [first + i, 2n ** BigInt(i)]));

/** By brute force: for each number of 13 bits, whether the bit at a place of the sum can be 0 and whether it can be 1. */
function results({ parts, weights, isOpen }: Compared, place: number): [boolean, boolean][] {
  const reachable = [0, 1].map((result) => {
    const isZero = (at: number) => !isOpen && at === PLACE;
    let sums = new Set(isZero(place) && result === 1 ? [] : [(result * (weights[place] as number)) % PRIME]);
    for (const [i, weight] of weights.entries())
      if (i !== place && !isZero(i))
        sums = new Set([...sums].flatMap((sum) => [sum, Number(fieldElement(sum + weight))]));
    return sums;
  }) as [Set<number>, Set<number>];
  return range(0, 2 ** BITS).map((number) => {
    const sum = parts.reduce((total, [constant, low, high, both], i) => {
      const [a, b] = [(number >> (2 * i)) & 1, (number >> (2 * i + 1)) & 1];
      return total + constant + low * a + high * b + both * a * b;
    }, 0);
    const value = Number(fieldElement(sum));
    return [reachable[0].has(value), reachable[1].has(value)];
  });
}

type Claim = Pick<Comparison, "bound" | "out">;

/** Says of statements about the bits whether they are true of every number that satisfies the constraints. */
function truthOf(compared: Compared): (claim: Claim) => boolean {
  const known = new Map<number, [boolean, boolean][]>();
  return ({ bound, out }) => {
    const place = out === undefined ? PLACE : out - FIRST_SUM;
    const all = known.get(place) ?? results(compared, place);
    known.set(place, all);
    return all.every(([zero, one], number) =>
      number > bound ? !zero && (out !== undefined || !one) : out === undefined || !one,
    );
  };
}

function factsOf(compared: Compared) {
  const { wires, constraints } = constraintsOf(compared);
  const normalized = new rules.Normalized(systemOf(wires, 1, constraints));
  const facts = new rules.Facts(normalized);
  facts.scanConstraints();
  const determined = new rules.Determined(normalized, facts, [1], []);
  const replays = (fact: Comparison): boolean => {
    try {
      const isBit = (wire: number) => facts.booleans.has(wire);
      rules.replayComparison({ rule: "compare", ...fact }, (by) => expand(normalized, by), isBit);
      return true;
    } catch {
      return false;
    }
  };
  const isDetermined = range(FIRST_BIT, BITS).every((wire) => determined.isDetermined(wire));
  return { found: [...facts.comparisons.values()], replays, isDetermined };
}

describe("comparisons over the field of 8191, against all numbers of 13 bits", function () {
  slow(this, "each of some hundred systems is solved by brute force");

  it("find every bound of circomlib's form, and determine the bits if it is below the prime", () => {
    for (const bound of [0, 1, 2, 5, 4095, 4096, 5461, 8189, 8190])
      for (const isOpen of [false, true]) {
        const compared = compareWith(bound, isOpen);
        const { found, replays, isDetermined } = factsOf(compared);
        const holds = truthOf(compared);
        expect(found, `bound ${bound}`).to.have.length.above(0);
        for (const fact of found) {
          if (!isOpen) expect([Number(fact.bound), fact.out]).to.deep.equal([bound, undefined]);
          expect(holds(fact) && replays(fact), `bound ${bound}`).to.equal(true);
        }
        if (isOpen)
          expect(found.map((fact) => [Number(fact.bound), fact.out])).to.deep.include([bound, FIRST_SUM + PLACE]);
        expect(isDetermined, `bound ${bound}`).to.equal(!isOpen);
      }
    const { found, isDetermined } = factsOf(compareWith(8191, false));
    expect(
      found.every(({ bound }) => bound < PRIME),
      "a bound that is not below the prime",
    ).to.equal(true);
    expect(isDetermined).to.equal(false);
  });

  it("are true in both checkers, for changed constraints and for forged facts", () => {
    const random = new Random("comparisons");
    const seen = { found: 0, replayed: 0, refused: 0, wrong: 0 };
    for (let i = 0; i < SYSTEMS; i++) {
      const { parts, weights, isOpen } = compareWith(random.below(PRIME), random.below(2) === 0);
      const change = <Item>(list: readonly Item[], other: (item: Item) => Item) => {
        const place = random.below(list.length);
        return list.map((item, at) => (at === place ? other(item) : item));
      };
      const delta = () => (random.below(2) === 0 ? 1 : -1) * 2 ** random.below(13);
      const compared: Compared = {
        parts:
          random.below(2) === 0 ? parts : change(parts, (part) => change(part, (value) => value + delta()) as Part),
        weights: random.below(3) > 0 ? weights : change(weights, (value) => value + delta()),
        isOpen,
      };
      const { found, replays } = factsOf(compared);
      const holds = truthOf(compared);
      const shown = () => `system ${i}: ${JSON.stringify(compared)}`;
      for (const fact of found) {
        seen.found++;
        expect(holds(fact) && replays(fact), shown()).to.equal(true);
      }
      const base = found[0];
      if (base === undefined) continue;
      for (let times = 0; times < 10; times++) {
        const { out, ...rest } = base;
        const bound = random.below(2) === 0 ? base.bound : base.bound + BigInt(delta());
        const modulus = random.below(2) === 0 ? base.modulus : 2n ** BigInt(random.below(12));
        const claim = { ...rest, bound, modulus, ...(out === undefined || random.below(3) === 0 ? {} : { out }) };
        if (!holds(claim)) seen.wrong++;
        if (replays(claim)) {
          seen.replayed++;
          expect(holds(claim), shown()).to.equal(true);
        } else seen.refused++;
      }
    }
    for (const [name, times] of Object.entries(seen)) expect(times, name).to.be.above(SYSTEMS / 10);
  });

  it("need a bound below the prime, in both checkers", () => {
    const [fact] = factsOf(compareWith(PRIME - 1, false)).found as [Comparison];
    const { found, replays, isDetermined } = factsOf(compareWith(PRIME, false));
    expect(found, "first").to.deep.equal([]);
    expect(isDetermined).to.equal(false);
    // True of 13 bits, but of two numbers that are the same modulo the prime.
    expect(replays({ ...fact, bound: BigInt(PRIME) }), "second").to.equal(false);
    expect(factsOf(compareWith(PRIME - 1, false)).replays(fact), "control").to.equal(true);
  });

  it("need a sum below the prime, in both checkers", () => {
    // 2304 + 2048 + 3584 + 255 is the prime, so that 255, which says that the number is above 5, adds up to 0 with three multiples of 256.
    const wraps = (last: number): Compared => ({
      ...compareWith(5, false),
      weights: [1, 2, 4, 8, 16, 32, 256, 128, -2304, -2048, last],
    });
    const [fact] = factsOf(compareWith(5, false)).found as [Comparison];
    const claims = (last: number) => {
      const { found, replays } = factsOf(wraps(last));
      const negative = { ...fact, terms: fact.terms.map(({ by, scale }) => ({ by, scale: -scale })) };
      const holds = truthOf(wraps(last));
      return [found.every(holds), replays(fact), replays(negative), holds(fact)];
    };
    expect(claims(-3584)).to.deep.equal([true, false, false, false]);
    expect(claims(-1792), "control").to.deep.equal([true, true, true, true]);
  });

  it("need a bound whose bits are among the number's, in the second checker", () => {
    const { found, replays } = factsOf(compareWith(5, true));
    const fact = found.find(({ out }) => out === FIRST_SUM + PLACE) as Comparison;
    // The highest bit counts 2^13, so no number has a bit at place 12: 6 is above 5, but not above 4096 + 5.
    const raised = { ...fact, exponents: fact.exponents.map((place) => (place === 12 ? 13 : place)) };
    expect(replays(raised), "control").to.equal(true);
    expect(replays({ ...raised, bound: 4096n + fact.bound })).to.equal(false);
  });

  it("square a wire only if it is a bit, in the second checker", () => {
    // x x = x + b: only for a bit x, b is 0.
    const side = (...wires: number[]) => new Map(wires.map((wire) => [wire, 1n]));
    const claim = { terms: [{ by: 0, scale: 1n }], wires: [2], exponents: [0], bound: 0n, modulus: 2n };
    const replays = (bits: readonly number[]) => {
      try {
        const expand = () => [side(1), side(1), side(1, 2)] as const;
        rules.replayComparison({ rule: "compare", ...claim }, expand, (wire) => bits.includes(wire));
        return true;
      } catch {
        return false;
      }
    };
    expect([replays([1, 2]), replays([2])]).to.deep.equal([true, false]);
  });

  it("count what a product of forms in one bit adds if the bit is 0", () => {
    const { wires, constraints } = constraintsOf(compareWith(4095, false));
    const [product, bit] = [wires, wires + 1];
    /** @param ifZero what the product adds for 0; it adds 128 for 1 */
    const results = (ifZero: number) => {
      // (a t + b) (t + 1) = product, in place of a bit of the sum.
      const sum = constraints.find(([, , c]) => c[FIRST_SUM] === 1n) as Constraint;
      const { [FIRST_SUM + PLACE]: _, ...others } = sum[2];
      const changed = constraints.map((each) => (each === sum ? [{}, {}, { ...others, [product]: 1n }] : each));
      const factor = { [bit]: fieldElement(128 * 4096 - ifZero), 0: fieldElement(ifZero) };
      const more = [
        [factor, { [bit]: 1n, 0: 1n }, { [product]: 1n }],
        [{ [bit]: 1n }, { [bit]: 1n, 0: fieldElement(-1) }, {}],
      ];
      const system = systemOf(wires + 2, 1, [...changed, ...more] as Constraint[]);
      const facts = new rules.Facts(new rules.Normalized(system));
      facts.scanConstraints();
      return [...facts.comparisons.values()].map(({ out }) => out);
    };
    expect(results(0), "control").to.include(bit);
    expect(results(-64)).not.to.include(bit);
  });
});

const HEAD = `pragma circom 2.0.0;
include "circomlib/circuits/compconstant.circom";
include "circomlib/circuits/bitify.circom";
include "circomlib/circuits/pointbits.circom";`;

/** The bits of a number, compared with a constant by circomlib, and what the comparison's result has to be. */
const compared = (constant: bigint, check: string, more = "") => `${HEAD}
template Bits() {
    signal input in;
    signal output out[254];
    component bits = Num2Bits(254);
    component compare = CompConstant(${constant});
    bits.in <== in;
    for (var i = 0; i < 254; i++) { out[i] <== bits.out[i]; compare.in[i] <== bits.out[i]; }
    ${check}
    ${more}
}
component main = Bits();`;

/** circomlib's part of a comparison with p - 1. */
function part(i: number): string {
  const digit = ((P - 1n) >> BigInt(2 * i)) & 3n;
  const [more, less] = [2n ** 128n - 2n ** BigInt(i), 2n ** BigInt(i)];
  const [zero, low, high, both] = [0n, 1n, 2n, 3n].map((choice) =>
    choice > digit ? more : choice < digit ? less : 0n,
  ) as [bigint, bigint, bigint, bigint];
  const [a, b] = [`out[${2 * i}]`, `out[${2 * i + 1}]`];
  return `parts[${i}] <== (${both - low - high + zero}) * ${a} * ${b} + (${low - zero}) * ${a} + (${high - zero}) * ${b} + ${zero};`;
}

/** circomlib's comparison, with changes. */
const own = (parts: number, place = 127, boolean = true) => `${HEAD}
template Own() {
    signal input in;
    signal output out[254];
    signal parts[127];
    var lc = 0;
    var sum = 0;
    for (var i = 0; i < 254; i++) {
        out[i] <-- (in >> i) & 1;
        ${boolean ? "out[i] * (out[i] - 1) === 0;" : "if (i > 0) out[i] * (out[i] - 1) === 0;"}
        lc += out[i] * (1 << i);
    }
    lc === in;
    ${range(0, 127).map(part).join("\n    ")}
    for (var i = 0; i < ${parts}; i++) sum += parts[i];
    component bits = Num2Bits(135);
    bits.in <== sum;
    bits.out[${place}] === 0;
}
component main = Own();`;

describe("comparisons with the prime", function () {
  slow(this, "circuits are compiled");
  const verdict = async (text: string, level: 0 | 1 | 2 = 1) => certify(await compile(text, level)).verdict;

  it("determine the 254 bits of a number, in both checkers and from an r1cs file alone", async () => {
    for (const main of ["Num2Bits_strict", "Point2Bits_Strict", "Bits2Point_Strict"])
      for (const level of [0, 1] as const) {
        const { r1cs, plain } = await compile(`${HEAD} component main = ${main}();`, level);
        for (const circuit of [{ r1cs, plain }, { r1cs }])
          expect(certify(circuit).verdict, `${main} --O${level}`).to.equal("certified");
      }
    expect(await verdict(own(127))).to.equal("certified");
  });

  it("determine nothing if the comparison is not used, is with p or more, or is changed", async () => {
    const zero = "compare.out === 0;";
    expect(await verdict(compared(P - 1n, zero))).to.equal("certified");
    expect(await verdict(compared(P - 1n, ""))).to.equal("unknown");
    expect(await verdict(compared(P - 2n, zero)), "a lower bound (control)").to.equal("certified");
    expect(await verdict(compared(2n ** 254n - 1n - P, zero)), "another lower bound (control)").to.equal("certified");
    expect(await verdict(own(126)), "a part is not added").to.equal("unknown");
    expect(await verdict(own(127, 125)), "another bit of the sum").to.equal("unknown");
    expect(await verdict(own(127, 127, false)), "a wire that is not a bit").to.equal("unknown");
  });
});
