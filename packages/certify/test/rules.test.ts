import { expect } from "chai";
import { Determined } from "../src/determine.ts";
import { Facts } from "../src/facts.ts";
import { Normalized } from "../src/normalize.ts";
import { PRATT, provenPrimes } from "../src/primes.ts";
import { type Side, systemOf } from "../src/r1cs.ts";
import { P } from "../src/replay/field.ts";

type Constraint = readonly [Side, Side, Side];

/** The wires, apart from the inputs, that the rules determine. */
function determined(wires: number, inputs: number, constraints: readonly Constraint[]): number[] {
  const normalized = new Normalized(systemOf(wires, inputs, constraints));
  const facts = new Facts(normalized);
  facts.scan();
  const given = Array.from({ length: inputs }, (_, i) => 1 + i);
  const result = new Determined(normalized, facts, given, []);
  return Array.from({ length: wires - 1 - inputs }, (_, i) => 1 + inputs + i).filter((wire) =>
    result.isDetermined(wire),
  );
}

const linear = (side: Side): Constraint => [{}, {}, side];
/** wire (wire - 1) = 0 */
const boolean = (wire: number): Constraint => [{ [wire]: 1n }, { [wire]: 1n, 0: -1n }, {}];
const bitsOf = (first: number, count: number, base = 2n): Record<number, bigint> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [first + i, base ** BigInt(i)]));

describe("rules of the certificate, each without its premise (control)", () => {
  it("linear: one unknown wire with a constant coefficient", () => {
    expect(determined(3, 1, [linear({ 1: 3n, 2: -5n, 0: 7n })])).to.deep.equal([2]);
    expect(determined(3, 1, [linear({ 1: 3n, 0: 7n })])).to.deep.equal([]);
    expect(determined(4, 1, [linear({ 1: 3n, 2: 5n, 3: 1n })]), "two unknown wires").to.deep.equal([]);
    expect(determined(3, 1, [[{ 2: 1n }, { 2: 1n }, { 1: 1n }]]), "a square root").to.deep.equal([]);
  });

  it("linear: a factor that is not 0", () => {
    // in * inverse = 1 and in * x = in2
    const quotient: Constraint = [{ 1: 1n }, { 3: 1n }, { 2: 1n }];
    const inverse: Constraint = [{ 1: 1n }, { 4: 1n }, { 0: 1n }];
    expect(determined(5, 2, [quotient, inverse])).to.deep.equal([3, 4]);
    expect(determined(5, 2, [quotient]), "the factor may be 0").to.deep.equal([]);
    expect(determined(5, 2, [quotient, [{ 1: 1n }, { 4: 1n }, {}]]), "a product that is 0").to.deep.equal([]);
  });

  it("bits: booleans whose sums differ", () => {
    const sum = (bits: Side) => linear({ ...bits, 1: -1n });
    const booleans = (count: number) => Array.from({ length: count }, (_, i) => boolean(2 + i));
    expect(determined(5, 1, [sum(bitsOf(2, 3)), ...booleans(3)])).to.deep.equal([2, 3, 4]);
    expect(determined(5, 1, [sum(bitsOf(2, 3)), ...booleans(2)]), "one wire is not boolean").to.deep.equal([]);
    expect(determined(5, 1, [sum(bitsOf(2, 3, 1n)), ...booleans(3)]), "1 + 0 = 0 + 1").to.deep.equal([]);
    expect(determined(255, 1, [sum(bitsOf(2, 253)), ...booleans(253)])).to.have.length(253);
    expect(determined(256, 1, [sum(bitsOf(2, 254)), ...booleans(254)]), "a number and the same plus p").to.deep.equal(
      [],
    );
  });

  it("boolean: the roots are 0 and 1", () => {
    const roots = (root: bigint): Constraint => [{ 2: 1n }, { 2: 1n, 0: -root }, {}];
    const sum = linear({ 2: 1n, 3: 2n, 1: -1n });
    expect(determined(4, 1, [roots(1n), boolean(3), sum])).to.deep.equal([2, 3]);
    expect(determined(4, 1, [roots(2n), boolean(3), sum]), "0 + 2 = 2 + 0").to.deep.equal([]);
  });

  it("one-hot: at most one flag may be set, and their sum is known", () => {
    const flag = (wire: number, place: bigint): Constraint => [{ [wire]: 1n }, { 1: 1n, 0: -place }, {}];
    const sum = linear({ 2: 1n, 3: 1n, 4: 1n, 0: -1n });
    expect(determined(5, 1, [flag(2, 1n), flag(3, 2n), flag(4, 3n), sum])).to.deep.equal([2, 3, 4]);
    expect(determined(5, 1, [flag(2, 1n), flag(3, 1n), flag(4, 3n), sum]), "two flags at one place").to.deep.equal([]);
    expect(determined(5, 1, [flag(2, 1n), flag(3, 2n), flag(4, 3n)]), "no sum").to.deep.equal([]);
    const loose: Constraint = [{ 4: 1n }, { 5: 1n, 0: -3n }, {}];
    expect(determined(6, 1, [flag(2, 1n), flag(3, 2n), loose, sum]), "an unknown condition").to.deep.equal([]);
  });

  it("bits: sums that other wires contain", () => {
    // s = b0 + 2 b1 and in = s + 4 b2, and the same with s squared instead.
    const bits = [3, 4, 5].map(boolean);
    const inner = linear({ 2: -1n, 3: 1n, 4: 2n });
    const outer = (last: bigint) => linear({ 1: -1n, 2: 1n, 5: last });
    expect(determined(6, 1, [inner, outer(4n), ...bits])).to.deep.equal([2, 3, 4, 5]);
    expect(determined(6, 1, [inner, outer(3n), ...bits]), "3 + 0 = 0 + 3").to.deep.equal([]);
    expect(determined(6, 1, [inner, outer(4n), ...bits.slice(1)]), "one wire is not a bit").to.deep.equal([]);
    const square: Constraint = [{ 2: 1n }, { 2: 1n }, { 1: 1n, 5: -4n }];
    expect(determined(6, 1, [inner, square, ...bits]), "another wire's square").to.deep.equal([]);
  });

  it("either: two factors that are not both 0", () => {
    // Two flags: w (in - 1) = 0 and (w - 1) (in - place) = 0.
    const flags = (place: bigint): Constraint[] => [
      [{ 2: 1n }, { 1: 1n, 0: -1n }, {}],
      [{ 2: 1n, 0: -1n }, { 1: 1n, 0: -place }, {}],
    ];
    expect(determined(3, 1, flags(2n))).to.deep.equal([2]);
    expect(determined(3, 1, flags(1n)), "both factors are 0 for 1").to.deep.equal([]);
    expect(determined(3, 1, flags(2n).slice(1)), "one constraint").to.deep.equal([]);
  });

  it("root: a number of few bits, so that its negative has more", () => {
    const square = (in1: Side = { 1: 1n }): Constraint => [{ 2: 1n }, { 2: 1n }, in1];
    const number = (count: number) => [
      linear({ 2: -1n, ...bitsOf(3, count) }),
      ...Array.from({ length: count }, (_, i) => boolean(3 + i)),
    ];
    expect(determined(255, 1, [square(), ...number(252)])).to.have.length(253);
    expect(determined(256, 1, [square(), ...number(253)]), "more than half the prime").to.deep.equal([]);
    expect(determined(255, 1, [square(), ...number(252).slice(0, -1)]), "a wire that is not a bit").to.deep.equal([]);
    expect(determined(256, 1, [square({ 1: 1n, 255: 1n }), ...number(252)]), "an unknown square").to.deep.equal([]);
  });

  it("rootless: a square less a number without a root is not 0", () => {
    // (in^2 - n) w = in2, with in^2 from another constraint
    const square: Constraint = [{ 1: 1n }, { 1: 1n }, { 3: 1n }];
    const quotient = (n: bigint): Constraint => [{ 3: 1n, 0: -n }, { 4: 1n }, { 2: 1n }];
    expect(determined(5, 2, [square, quotient(5n)]), "5 generates the field").to.deep.equal([3, 4]);
    expect(determined(5, 2, [square, quotient(4n)]), "2^2 = 4").to.deep.equal([3]);
    expect(determined(5, 2, [square, quotient(0n)]), "0^2 = 0").to.deep.equal([3]);
  });

  it("division: a remainder that is below the divisor, and numbers of few bits", () => {
    const number = (wire: number, first: number, count: number): Constraint[] => [
      linear({ [wire]: -1n, ...bitsOf(first, count) }),
      ...Array.from({ length: count }, (_, i) => boolean(first + i)),
    ];
    // in = divisor q + r, where r has 3 bits
    const constantly = (divisor: bigint, count: number): Constraint[] => [
      linear({ 1: -1n, 2: divisor, 3: 1n }),
      ...number(2, 4, count),
      ...number(3, 4 + count, 3),
    ];
    expect(determined(256, 1, constantly(8n, 249))).to.have.length(254);
    expect(determined(258, 1, constantly(8n, 251)), "more than the prime").to.deep.equal([]);
    expect(determined(256, 1, constantly(7n, 249)), "a remainder of 7").to.deep.equal([]);
    expect(determined(256, 1, constantly(8n, 249).slice(0, -1)), "a wire that is not a bit").to.deep.equal([]);
    // in = in2 q + r, and r - in2 + 8 is a number of 3 bits
    const generally = (limit: bigint, ...without: number[]): Constraint[] =>
      [
        [[{ 3: 1n }, { 2: 1n }, { 1: 1n, 4: -1n }] satisfies Constraint],
        number(3, 5, 5),
        number(4, 10, 3),
        number(2, 13, 3),
        [linear({ 4: 1n, 2: -1n, 0: limit, 16: -1n, 17: -2n, 18: -4n }), boolean(16), boolean(17), boolean(18)],
      ].flatMap((part, i) => (without.includes(i) ? [] : part));
    const first = (constraints: readonly Constraint[]) => determined(19, 2, constraints).filter((wire) => wire < 5);
    expect(first(generally(8n))).to.deep.equal([3, 4]);
    expect(first(generally(7n)), "a remainder that may be the divisor").to.deep.equal([]);
    for (const part of [1, 2, 3, 4]) expect(first(generally(8n, part)), `without part ${part}`).to.deep.equal([]);
  });

  it("case: IsZero's output is determined, its inverse is not", () => {
    const inverse: Constraint = [{ 1: -1n }, { 3: 1n }, { 2: 1n, 0: -1n }];
    const zero: Constraint = [{ 1: 1n }, { 2: 1n }, {}];
    expect(determined(4, 1, [inverse, zero])).to.deep.equal([2]);
    expect(determined(4, 1, [inverse]), "the output may be anything").to.deep.equal([]);
    expect(determined(4, 1, [zero]), "the output is free if the input is 0").to.deep.equal([]);
  });

  it("nonsquare: a divisor that is 0 only if a number without a root is a square", () => {
    // tau = x y and (1 + d tau) q = x + s y: if the divisor is 0, then x = -s y, and 1 = s d y^2.
    const quotient = (d: bigint, s: bigint, one = 1n): Constraint[] => [
      [{ 1: 1n }, { 2: 1n }, { 3: 1n }],
      [{ 0: one, 3: d }, { 4: 1n }, { 1: 1n, 2: s }],
    ];
    expect(determined(5, 2, quotient(5n, 1n)), "5 has no root").to.deep.equal([3, 4]);
    expect(determined(5, 2, quotient(4n, 1n)), "4 has a root").to.deep.equal([3]);
    expect(determined(5, 2, quotient(4n, 5n)), "20 has no root").to.deep.equal([3, 4]);
    expect(determined(5, 2, quotient(5n, 5n)), "25 has a root").to.deep.equal([3]);
    expect(determined(5, 2, quotient(5n, 1n, 0n)), "the divisor is 0 if x is").to.deep.equal([3]);
    expect(determined(6, 3, [[{ 0: 1n, 3: 5n }, { 5: 1n }, { 1: 1n, 2: 1n }]]), "no product").to.deep.equal([]);
    const square: Constraint = [{ 1: 1n }, { 1: 1n }, { 3: 1n }];
    expect(determined(5, 2, [square, [{ 0: -5n, 3: 1n }, { 4: 1n }, { 2: 1n }]]), "x^2 = 5").to.deep.equal([3, 4]);
    expect(determined(5, 2, [square, [{ 0: -4n, 3: 1n }, { 4: 1n }, { 2: 1n }]]), "x^2 = 4").to.deep.equal([3]);
  });

  it("system: equations that are independent", () => {
    const equation = (a: bigint, b: bigint, c: bigint, input: number) => linear({ 3: a, 4: b, 5: c, [input]: -1n });
    const third = equation(0n, 1n, 7n, 1);
    expect(determined(6, 2, [equation(1n, 1n, 1n, 1), equation(1n, -1n, 1n, 2), third])).to.deep.equal([3, 4, 5]);
    expect(determined(6, 2, [equation(1n, 1n, 1n, 1), equation(2n, 2n, 2n, 2), third]), "dependent").to.deep.equal([]);
  });

  it("refuses to call a constraint without solution a determination", () => {
    const normalized = new Normalized(systemOf(2, 1, [linear({ 0: 1n })]));
    expect(normalized.contradictions).to.deep.equal([0]);
  });
});

describe("Pratt certificates", () => {
  it("show that both moduli are prime, and refuse a wrong witness, a missing factor and an unproven factor", () => {
    expect(provenPrimes(PRATT).has(P)).to.equal(true);
    const [first, ...rest] = PRATT as [(typeof PRATT)[0], ...typeof PRATT];
    // 4 is a square, so its order is at most (p - 1) / 2.
    expect(() => provenPrimes([{ ...first, witness: 4n }, ...rest])).to.throw("does not show");
    expect(() => provenPrimes([{ ...first, factors: first.factors.slice(1) }, ...rest])).to.throw("does not show");
    expect(() => provenPrimes([first])).to.throw("is not shown to be prime");
    expect(() => provenPrimes([{ n: 9n, witness: 2n, factors: [2n] }])).to.throw("does not show");
  });
});
