import { gunzipSync, gzipSync } from "node:zlib";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { certify } from "../src/outcome.ts";
import { checkCertificate } from "../src/replay/check.ts";
import { replayComparison } from "../src/replay/compare.ts";
import { replayDivision } from "../src/replay/division.ts";
import { P } from "../src/replay/field.ts";
import { checkNonsquare } from "../src/replay/nonsquare.ts";
import { compile } from "./compiled.ts";

type Sum = Readonly<Record<number, bigint>>;
const terms = (sum: Sum) => new Map(Object.entries(sum).map(([wire, k]) => [Number(wire), (k + P) % P]));
const sides = (...three: [Sum, Sum, Sum]) =>
  three.map(terms) as [Map<number, bigint>, Map<number, bigint>, Map<number, bigint>];

describe("the second checker refuses a comparison without one of its premises", () => {
  const [A, B, T, D, U] = [1, 2, 3, 4, 5];
  // a + 2 b = t, so that the number with the bits a and b is at most 1.
  const fact = {
    rule: "compare" as const,
    terms: [{ by: 0, scale: -1n }],
    wires: [A, B],
    exponents: [0, 1],
    bound: 1n,
    modulus: 4n,
  };
  const sum = sides({}, {}, { [A]: 1n, [B]: 2n, [T]: -1n });
  const replay = (change: object, constraint = sum, bits = [A, B, T, D, U]) =>
    replayComparison(
      { ...fact, ...change },
      () => constraint,
      (wire) => bits.includes(wire),
    );

  it("(control) accepts it with all premises, also as one that a bit tells", () => {
    replay({});
    // a + 2 b = d + 2 t: t is 1 if and only if the number is more than 1.
    replay({ out: T }, sides({}, {}, { [A]: 1n, [B]: 2n, [D]: -1n, [T]: -2n }));
  });
  for (const [message, ...change] of [
    ["two bits at one place", { exponents: [0, 0] }],
    ["a digit that is not a bit", { wires: [A, B, D], exponents: [0, 1, 2] }, sum, [A, B, T]],
    ["a wire that is not a bit", {}, sum, [A, B]],
    ["a bit of the number and another one are multiplied", {}, sides({ [A]: 1n }, { [T]: 1n }, { [B]: 2n })],
    ["a bit of the number is not compared", { wires: [A, B, D], exponents: [0, 1, 2] }],
    [
      "bits of the number in another order",
      { wires: [A, B, D], exponents: [0, 1, 2] },
      sides({ [A]: 1n }, { [D]: 1n }, { [B]: 2n }),
    ],
    ["the result is not a bit of the sum", { out: A }],
    [
      "the comparison permits another number",
      // 3 a + d + u = 2 t: t can be 1 for a = 0.
      { wires: [A], exponents: [0], modulus: 8n, out: T },
      sides({}, {}, { [A]: 3n, [D]: 1n, [U]: 1n, [T]: -2n }),
    ],
    [
      "too many bits are multiplied with each other",
      {},
      sides({ [A]: 1n, [B]: 2n, [T]: 4n, [D]: 8n }, { [U]: 1n, 6: 2n, 7: 4n, 8: 8n }, {}),
      [A, B, T, D, U, 6, 7, 8],
    ],
  ] as [string, object, typeof sum?, number[]?][])
    it(`says "${message}"`, () => expect(() => replay(...change)).to.throw(message));
});

describe("the second checker refuses a division without one of its premises", () => {
  const [IN, Q, R, D, FIRST] = [1, 2, 3, 4, 5];
  const bit = (i: number) => FIRST + i;
  // in = 8 q + r or in = q D + r, the ranges of q, r and D, and r - D + 4 as a number of two bits.
  const linear: readonly (Sum | undefined)[] = [
    { [IN]: -1n, [Q]: 8n, [R]: 1n },
    undefined,
    { [Q]: -1n, [bit(0)]: 1n, [bit(1)]: 2n },
    { [R]: -1n, [bit(2)]: 1n, [bit(3)]: 2n, [bit(4)]: 4n },
    { [D]: -1n, [bit(5)]: 1n, [bit(6)]: 2n, [bit(7)]: 4n },
    { [R]: 1n, [D]: -1n, 0: 4n, [bit(8)]: -1n, [bit(9)]: -2n },
  ];
  const product = sides({ [Q]: 1n }, { [D]: 1n }, { [IN]: 1n, [R]: -1n });
  const fixed = { rule: "division" as const, by: 0, quotient: Q, remainder: R, ranges: [2, 3], less: [] };
  const general = { ...fixed, by: 1, divisor: D, ranges: [2, 3, 4], less: [{ by: 5, scale: 1n }] };
  interface Change {
    at?: number;
    sum?: Sum;
    free?: number;
    unknown?: number;
    product?: typeof product;
  }
  const replay = (
    step: typeof fixed | typeof general,
    { at, sum, free, unknown, product: other = product }: Change = {},
  ) =>
    replayDivision(step, {
      expand: () => other,
      linear: (by) => (by === at ? terms(sum as Sum) : linear[by] && terms(linear[by])),
      isBit: (wire) => wire >= FIRST && wire !== free,
      isKnown: (wire) => [0, IN, D].includes(wire) && wire !== unknown,
    });

  it("(control) accepts both with all premises", () => {
    for (const step of [fixed, general]) replay(step);
  });
  for (const [message, step, change] of [
    ["the divisor is not positive", fixed, { at: 0, sum: { [IN]: -1n, [Q]: -8n, [R]: 1n } }],
    ["a range above the prime", fixed, { at: 2, sum: { [Q]: -1n, [bit(0)]: 1n, [bit(1)]: -1n } }],
    ["a range with a wire that is not a bit", fixed, { free: bit(0) }],
    ["a range with a wire that is not a bit", fixed, { at: 2, sum: { [Q]: -1n, 0: 1n } }],
    ["a range of another wire", { ...fixed, ranges: [3, 3] }, {}],
    ["a range is missing", { ...general, ranges: [2, 3] }, {}],
    ["one wire twice", { ...fixed, remainder: Q }, {}],
    ["not quotient and remainder", fixed, { at: 0, sum: { [IN]: -1n, [Q]: 8n } }],
    ["the divisor is not determined", general, { unknown: D }],
    [
      "not quotient times divisor",
      general,
      { product: sides({ [Q]: 1n, [bit(0)]: 1n }, { [D]: 1n }, { [IN]: 1n, [R]: -1n }) },
    ],
    ["another unknown wire", fixed, { at: 0, sum: { [IN]: -1n, [Q]: 8n, [R]: 1n, [bit(0)]: 1n } }],
    [
      "another unknown wire",
      general,
      { product: sides({ [Q]: 1n }, { [D]: 1n }, { [IN]: 1n, [R]: -1n, [bit(0)]: 1n }) },
    ],
    ["a wire without a range", { ...fixed, ranges: [-1, 3] }, {}],
    ["quotient times divisor may exceed the prime", fixed, { at: 0, sum: { [IN]: -1n, [Q]: P / 2n, [R]: 1n } }],
    ["the remainder may be the divisor or more", fixed, { at: 3, sum: { [R]: -1n, [bit(2)]: 1n, [bit(3)]: 8n } }],
    ["the remainder may be the divisor or more", general, { at: 5, sum: { ...linear[5], 0: 3n } }],
    ["is not linear", { ...general, less: [{ by: 1, scale: 1n }] }, {}],
    [
      "the difference may exceed the prime",
      general,
      { at: 5, sum: { ...linear[5], [bit(8)]: P / 2n, [bit(9)]: P / 2n } },
    ],
    ["the remainder has another factor", general, { product: sides({ [Q]: 1n }, { [D]: 1n }, { [IN]: 1n, [R]: -2n }) }],
    ["not remainder less divisor", general, { at: 5, sum: { ...linear[5], [D]: -2n } }],
    ["a wire that is not a bit", general, { free: bit(8) }],
  ] as [string, typeof fixed, Change][])
    it(`says "${message}"`, () => expect(() => replay(step, change)).to.throw(message));
});

describe("the second checker refuses a divisor that may be 0", () => {
  const [W, T, X, N] = [1, 2, 3, 4];
  const wire = (one: number) => ({ constant: 0n, wires: [one], coefficients: [1n] });
  /** The divisor c - k t. */
  const divisor = (c: bigint, k: bigint) => ({ constant: c, wires: [T], coefficients: [P - k] });
  const values = [1n, 2n, 3n].map((seed) => Array.from({ length: 5 }, (_, i) => 1_000_003n ** (seed + BigInt(i)) % P));
  // t = w w and (5 - t) x = n: 5 has no root, so t is not 5.
  const fact = {
    rule: "nonsquare" as const,
    by: 0,
    form: divisor(5n, 1n),
    root: [wire(W)],
    c: 5n,
    k: 1n,
    e: 0n,
    definitions: [{ by: 1, wire: T }],
  };
  const replay = (change: object, divided: Sum = { 0: 5n, [T]: -1n }, left: Sum = { [W]: 1n }) => {
    const constraints = [sides(divided, { [X]: 1n }, { [N]: 1n }), sides(left, { [W]: 1n }, { [T]: 1n })];
    checkNonsquare({ ...fact, ...change }, (by) => constraints[by] as (typeof constraints)[number], values);
  };

  it("(control) accepts one that would make a number without a root a square", () => replay({}));
  for (const [message, ...change] of [
    ["c / k has a root, or is 0", { c: 4n, form: divisor(4n, 1n) }, { 0: 4n, [T]: -1n }],
    ["0 = 0 is not a contradiction", { c: 0n, k: 0n }],
    ["w is not a form or a product of two", { root: [wire(W), wire(W), wire(W)] }],
    ["more than 12 definitions", { definitions: Array(13).fill({ by: 1, wire: T }) }],
    ["constraint 1 defines no wire", {}, { 0: 5n, [T]: -1n }, { [T]: 1n }],
    ["constraint 0 does not contain the divisor", { form: divisor(5n, 4n), k: 4n }],
    ["the identity does not hold", { e: 1n }],
  ] as [string, object, Sum?, Sum?][])
    it(`says "${message}"`, () => expect(() => replay(...change)).to.throw(message));
});

describe("a square root whose sign a comparison with half the prime gives", function () {
  slow(this, "circuits are compiled");
  const middle = (P - 1n) / 2n;
  const root = (constant: bigint, bits = "Num2Bits_strict()", result = "compare.out === sign;") => `pragma circom 2.0.0;
include "circomlib/circuits/compconstant.circom";
include "circomlib/circuits/bitify.circom";
template Root() {
    signal input square;
    signal input sign;
    signal output out;
    out <-- square;
    out * out === square;
    component bits = ${bits};
    component compare = CompConstant(${constant});
    bits.in <== out;
    for (var i = 0; i < 254; i++) compare.in[i] <== bits.out[i];
    ${result}
}
component main {public [square]} = Root();`;

  it("is determined only with all premises, in both checkers", async () => {
    const { r1cs } = await compile(root(middle));
    const outcome = certify({ r1cs });
    if (outcome.verdict !== "certified") throw new Error(`${outcome.verdict}, expected certified`);
    for (const other of [root(middle - 1n), root(middle, "Num2Bits(254)"), root(middle, "Num2Bits_strict()", "")])
      expect(certify(await compile(other)).verdict).to.equal("unknown");
    const forged = (change: (step: Record<string, number>, contents: { theorem: string }) => void) => {
      const contents = JSON.parse(String(gunzipSync(outcome.certificate)));
      change(
        contents.steps.find(({ rule }: { rule: string }) => rule === "root"),
        contents,
      );
      return () => checkCertificate(r1cs, gzipSync(JSON.stringify(contents)));
    };
    expect(
      forged(() => {}),
      "control",
    ).not.to.throw();
    expect(forged((step) => delete step["half"])).to.throw("may be more than half the prime");
    expect(forged((step) => delete step["below"])).to.throw("not a comparison with half the prime");
    expect(forged((step) => Object.assign(step, { half: step["below"] }))).to.throw(
      "not a comparison with half the prime",
    );
    expect(forged((step) => Object.assign(step, { below: step["half"] }))).to.throw("a bound that depends on a bit");
    expect(forged((step) => Object.assign(step, { half: 0 }))).to.throw("fact 0 is not a comparison");
    expect(forged((_, contents) => Object.assign(contents, { theorem: "strong" }))).to.throw(
      "the result is not determined",
    );
  });
});
