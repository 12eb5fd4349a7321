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
