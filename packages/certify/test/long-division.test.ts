import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { certify } from "../src/outcome.ts";
import { P } from "../src/replay/field.ts";
import { replayLongDivision } from "../src/replay/long-division.ts";
import type { Determination, LongDivision } from "../src/steps.ts";
import { compile } from "./compiled.ts";

type Part = "dividend" | "quotient" | "remainder" | "carry" | "less";

/** a = q b + r in limbs, with the product by its values at 0 to 3, as in 0xPARC's circuits. With `divisor`, b is this constant. */
function division(without?: Part, divisor?: readonly [number, number], bits = 3): string {
  const numbers = { dividend: ["a", 5], quotient: ["q", 3], remainder: ["r", 2], carry: ["carry", 4] } as const;
  const base = 2n ** BigInt(bits);
  const checks = Object.entries(numbers).map(([name, [signal, count]]) =>
    name === without
      ? ""
      : `component ${name}Bits[${count}];
    for (var i = 0; i < ${count}; i++) { ${name}Bits[i] = Num2Bits(${bits}); ${name}Bits[i].in <== ${signal}[i]; }`,
  );
  return `pragma circom 2.0.0;
include "circomlib/circuits/comparators.circom";
include "circomlib/circuits/gates.circom";
template Divide() {
    signal input a[5];
    signal ${divisor === undefined ? "input" : ""} b[2];
    signal output q[3];
    signal output r[2];
    signal product[4];
    signal carry[4];
    ${divisor === undefined ? "" : `b[0] <== ${divisor[0]}; b[1] <== ${divisor[1]};`}
    for (var i = 0; i < 3; i++) q[i] <-- 0;
    for (var i = 0; i < 2; i++) r[i] <-- a[i];
    for (var i = 0; i < 4; i++) { product[i] <-- 0; carry[i] <-- 0; }
    for (var x = 0; x < 4; x++)
        product[0] + product[1] * x + product[2] * x ** 2 + product[3] * x ** 3
            === (q[0] + q[1] * x + q[2] * x ** 2) * (b[0] + b[1] * x);
    product[0] + r[0] === a[0] + ${base} * carry[0];
    product[1] + r[1] + carry[0] === a[1] + ${base} * carry[1];
    product[2] + carry[1] === a[2] + ${base} * carry[2];
    product[3] + carry[2] === a[3] + ${base} * carry[3];
    carry[3] === a[4];
    ${checks.join("\n    ")}
    component less[2];
    component equal[2];
    for (var i = 0; i < 2; i++) {
        less[i] = LessThan(${bits});
        less[i].in[0] <== r[i];
        less[i].in[1] <== b[i];
        equal[i] = IsEqual();
        equal[i].in[0] <== r[i];
        equal[i].in[1] <== b[i];
    }
    component and = AND();
    and.a <== equal[1].out;
    and.b <== less[0].out;
    component or = OR();
    or.a <== less[1].out;
    or.b <== and.out;
    ${without === "less" ? "" : "or.out === 1;"}
}
component main = Divide();
`;
}

describe("the rule for divisions in limbs", function () {
  slow(this, "small circuits are compiled");

  for (const divisor of [undefined, [5, 3]] as const)
    it(`certifies quotient and remainder, divided by ${divisor === undefined ? "an input" : "a constant"}`, async () => {
      const outcome = certify(await compile(division(undefined, divisor)));
      expect(outcome.verdict).to.equal("certified");
    });

  it("certifies limbs of 80 bits, whose product exceeds the prime, only if the carries have a range", async () => {
    expect(certify(await compile(division(undefined, undefined, 80))).verdict).to.equal("certified");
    expect(certify(await compile(division("carry", undefined, 80))).verdict).to.equal("unknown");
  });

  it("needs no range of the carries if all terms stay below the prime", async () => {
    expect(certify(await compile(division("carry"))).verdict).to.equal("certified");
  });

  for (const part of ["quotient", "remainder", "less"] as const)
    it(`does not certify them without the constraint of ${part}`, async () => {
      expect(certify(await compile(division(part))).verdict).to.equal("unknown");
    });

  it("refutes a division whose remainder is not compared with the divisor", async () => {
    const outcome = certify(await compile(division("less")), { search: () => ({ milliseconds: 20_000 }) });
    expect(outcome.verdict).to.equal("refuted");
  });
});

// A certificate of a division that fits on a page: (low + 2 high) divisor + remainder = dividend.
const [DIVIDEND, DIVISOR, LOW, HIGH, REMAINDER, FLAG, FACTOR, LESS, OTHER, TOP] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const FIRST_BIT = 11;

type Sum = Readonly<Record<number, bigint>>;
const HONEST: readonly (readonly [Sum, Sum, Sum])[] = [
  // 0: the division, with a carry at the top
  [{ [LOW]: 1n, [HIGH]: 2n }, { [DIVISOR]: 1n }, { [DIVIDEND]: 1n, [REMAINDER]: -1n, [TOP]: 64n }],
  // 1 to 3: the bits of remainder, divisor and dividend
  [{}, {}, { [REMAINDER]: -1n, [FIRST_BIT]: 1n, [FIRST_BIT + 1]: 2n }],
  [{}, {}, { [DIVISOR]: -1n, [FIRST_BIT + 2]: 1n, [FIRST_BIT + 3]: 2n }],
  [{}, {}, { [DIVIDEND]: -1n, [FIRST_BIT + 4]: 1n, [FIRST_BIT + 5]: 2n, [FIRST_BIT + 6]: 4n, [FIRST_BIT + 7]: 8n }],
  // 4: remainder - divisor + 4 is a number whose highest bit is `LESS`, negated
  [{}, {}, { [REMAINDER]: -1n, [DIVISOR]: 1n, 0: -4n, [FIRST_BIT + 8]: 1n, [FIRST_BIT + 9]: 2n, [LESS]: 4n }],
  // 5 and 6: the flag that they are equal
  [{ [REMAINDER]: 1n, [DIVISOR]: -1n }, { [FLAG]: 1n }, {}],
  [{ [REMAINDER]: 1n, [DIVISOR]: -1n }, { [FACTOR]: 1n }, { 0: 1n, [FLAG]: -1n }],
  // 7 and 8: neither more nor equal
  [{ [LESS]: 1n }, { 0: 1n, [FLAG]: -1n }, { [OTHER]: 1n }],
  [{ [OTHER]: 1n, [FLAG]: 1n }, { [OTHER]: 1n, 0: 1n }, {}],
  // 9: not linear
  [{ [LOW]: 1n }, { [HIGH]: 1n }, {}],
];
const BITS = [LOW, HIGH, LESS, ...Array.from({ length: 10 }, (_, i) => FIRST_BIT + i)];
const STEP: LongDivision = {
  rule: "long_division",
  ranges: [
    { by: 1, wire: REMAINDER },
    { by: 2, wire: DIVISOR },
    { by: 3, wire: DIVIDEND },
  ],
  flags: [{ zero: 5, other: 6, wire: FLAG }],
  equations: [{ terms: [{ by: 0, scale: 1n }], weight: 1n }],
  vanishing: [TOP],
  quotient: [
    { wire: LOW, weight: 1n },
    { wire: HIGH, weight: 2n },
  ],
  remainder: [{ wire: REMAINDER, weight: 1n, terms: [{ by: 4, scale: 1n }], equal: { by: 5, flag: FLAG, terms: [] } }],
  leaves: [LESS, FLAG],
  definitions: [{ by: 7, wire: OTHER }],
  checks: [8],
};

const mod = (value: bigint): bigint => ((value % P) + P) % P;
const terms = (sum: Sum) => new Map(Object.entries(sum).map(([wire, k]) => [Number(wire), mod(k)]));

interface Change {
  readonly step?: Partial<LongDivision>;
  /** Constraints in place of the honest ones. */
  readonly constraints?: Readonly<Record<number, readonly [Sum, Sum, Sum]>>;
  readonly bits?: readonly number[];
  readonly known?: readonly number[];
}

function replay({ step = {}, constraints = {}, bits = [...BITS, TOP], known = [DIVIDEND, DIVISOR] }: Change): void {
  const at = (by: number) => (constraints[by] ?? HONEST[by]) as readonly [Sum, Sum, Sum];
  replayLongDivision({ ...STEP, ...step } as Extract<Determination, { rule: "long_division" }>, {
    expand: (by) => at(by).map(terms) as [Map<number, bigint>, Map<number, bigint>, Map<number, bigint>],
    linear: (by) => {
      const [a, , c] = at(by);
      if (Object.keys(a).length > 0) return undefined;
      return new Map([...terms(c)].map(([wire, k]) => [wire, mod(-k)]));
    },
    isBit: (wire) => bits.includes(wire),
    isKnown: (wire) => wire === 0 || known.includes(wire),
  });
}

describe("the second checker refuses a division in limbs without one of its premises", () => {
  const [limb] = STEP.remainder as [LongDivision["remainder"][number]];
  const [equation] = STEP.equations as [LongDivision["equations"][number]];
  const product = HONEST[0] as readonly [Sum, Sum, Sum];
  const withLimb = (change: object) => ({ step: { remainder: [{ ...limb, ...change }] } });
  const large = P / 4n;
  const many = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [FIRST_BIT + i, 1n]));

  it("(control) accepts it with all premises", () => {
    replay({});
    replay({ step: { flags: [...STEP.flags, ...STEP.flags] } });
  });

  const refused: readonly (readonly [message: string, change: Change])[] = [
    ["nothing is divided", { step: { quotient: [] } }],
    ["nothing is divided", { step: { remainder: [] } }],
    ["one wire twice", { step: { quotient: [...STEP.quotient, ...STEP.quotient] } }],
    ["a wire that is determined already", { known: [DIVIDEND, DIVISOR, HIGH] }],
    [
      "a limb without weight",
      {
        ...withLimb({ weight: -1n }),
        constraints: { 0: [product[0], product[1], { ...product[2], [REMAINDER]: 1n }] },
      },
    ],
    [
      "the remainder may be negative",
      { constraints: { 1: [{}, {}, { [REMAINDER]: -1n, 0: -1n, [FIRST_BIT]: 1n, [FIRST_BIT + 1]: 2n }] } },
    ],
    [`wire ${REMAINDER} has no range`, { step: { ranges: STEP.ranges.slice(1) } }],
    [`wire ${FIRST_BIT + 8} has no range`, { bits: [...BITS, TOP].filter((wire) => wire !== FIRST_BIT + 8) }],
    ["constraint 9 is not linear", withLimb({ terms: [{ by: 9, scale: 1n }] })],
    ["a range of another wire", { step: { ranges: [{ by: 1, wire: DIVISOR }] } }],
    ["a range of another wire", { step: { ranges: [{ by: 9, wire: LOW }] } }],
    ["two ranges of a wire", { step: { ranges: [...STEP.ranges, { by: 1, wire: REMAINDER }] } }],
    [
      "a range that is too wide",
      { constraints: { 1: [{}, {}, { [REMAINDER]: -1n, [FIRST_BIT]: P / 2n, [FIRST_BIT + 1]: 2n }] } },
    ],
    [
      "not a product that is 0",
      { constraints: { 5: [{ [REMAINDER]: 1n, [DIVISOR]: -1n }, { [FLAG]: 1n }, { 0: 1n }] } },
    ],
    [
      "not a product with the flag",
      { constraints: { 5: [{ [REMAINDER]: 1n, [DIVISOR]: -1n }, { [FLAG]: 1n, 0: 1n }, {}] } },
    ],
    [
      "not a multiple of 1 - flag",
      { constraints: { 6: [{ [REMAINDER]: 1n, [DIVISOR]: -1n }, { [FACTOR]: 1n }, { 0: 1n, [FLAG]: 1n }] } },
    ],
    [
      "not a multiple of 1 - flag",
      { constraints: { 6: [{ [REMAINDER]: 1n, [DIVISOR]: -1n }, { [FACTOR]: 1n }, { [FLAG]: -1n }] } },
    ],
    [
      "not a multiple of 1 - flag",
      {
        constraints: {
          6: [{ [REMAINDER]: 1n, [DIVISOR]: -1n }, { [FACTOR]: 1n }, { 0: 1n, [FLAG]: -1n, [OTHER]: 1n }],
        },
      },
    ],
    [
      "another factor",
      { constraints: { 6: [{ [REMAINDER]: 1n, [DIVISOR]: 1n }, { [FACTOR]: 1n }, { 0: 1n, [FLAG]: -1n }] } },
    ],
    ["a product of two unknown wires", { known: [DIVIDEND] }],
    ["another weight in the remainder", withLimb({ weight: 2n })],
    [
      "another weight in the remainder",
      {
        step: { quotient: [...STEP.quotient, { wire: REMAINDER, weight: 1n }], remainder: [{ ...limb, wire: OTHER }] },
      },
    ],
    ["a wire that is not in the quotient", { step: { quotient: [...STEP.quotient, { wire: OTHER, weight: 4n }] } }],
    ["a wire that is not in the quotient", { step: { quotient: [{ wire: LOW, weight: 0n }] } }],
    ["a factor that is no multiple of the divisor", { step: { quotient: [{ wire: LOW, weight: 2n }] } }],
    [
      "two divisors",
      {
        step: {
          quotient: [
            { wire: LOW, weight: 1n },
            { wire: HIGH, weight: 1n },
          ],
        },
      },
    ],
    ["another unknown wire", { step: { quotient: [{ wire: LOW, weight: 1n }] } }],
    ["another unknown wire", { step: { vanishing: [] } }],
    [
      "an equation that may exceed the prime",
      { step: { equations: [{ ...equation, terms: [{ by: 0, scale: large }] }] } },
    ],
    ["a wire that may not be 0", { constraints: { 0: [product[0], product[1], { ...product[2], [TOP]: 8n }] } }],
    [
      "a wire in a product",
      {
        step: { vanishing: [TOP, LOW] },
        constraints: { 0: [product[0], product[1], { ...product[2], [LOW]: 64n, [TOP]: 200n }] },
      },
    ],
    [
      "two numbers with the same value",
      {
        step: {
          quotient: [
            { wire: LOW, weight: 1n },
            { wire: HIGH, weight: 1n },
          ],
        },
        constraints: { 0: [{ [LOW]: 1n, [HIGH]: 1n }, product[1], product[2]] },
      },
    ],
    ["too many terms in all choices", { step: { leaves: [...BITS, FLAG], checks: new Array<number>(200).fill(8) } }],
    ["too many choices", { step: { leaves: [LESS, FLAG, LESS] } }],
    ["too many choices", { step: { leaves: BITS.concat(TOP, FLAG) } }],
    ["not a bit", { step: { flags: [] } }],
    ["not a bit", { step: { leaves: [LESS, FLAG, OTHER] } }],
    [
      "the comparisons are not about remainder and divisor",
      { ...withLimb({ equal: undefined }), constraints: { 4: [{}, {}, { [REMAINDER]: -1n, 0: -4n, [LESS]: 4n }] } },
    ],
    ["the remainder may be the divisor or more", { step: { checks: [] } }],
    [
      // remainder - divisor is 1 and bits. OTHER, which is subtracted, is -1 in the only choice: it is not P - 1 as an integer.
      "the remainder may be the divisor or more",
      {
        step: {
          ranges: [...STEP.ranges, { by: 7, wire: OTHER }],
          remainder: [{ wire: REMAINDER, weight: 1n, terms: limb.terms }],
        },
        constraints: {
          4: [{}, {}, { [REMAINDER]: -1n, [DIVISOR]: 1n, [FIRST_BIT + 8]: 1n, [FIRST_BIT + 9]: 2n, [OTHER]: -1n }],
          7: [{}, {}, { [OTHER]: 1n, [LESS]: 1n }],
          8: [{}, {}, { [LESS]: 1n, 0: -1n }],
        },
      },
    ],
    ["the remainder may be the divisor or more", { constraints: { 8: [{ [OTHER]: 1n }, { 0: 1n }, {}] } }],
    [
      "a comparison that may exceed the prime",
      {
        constraints: {
          4: [
            {},
            {},
            {
              [REMAINDER]: -1n,
              [DIVISOR]: 1n,
              0: -4n,
              [FIRST_BIT + 8]: P / 2n,
              [FIRST_BIT + 9]: P / 2n,
              [LESS]: P / 2n,
            },
          ],
        },
      },
    ],
    ["not a product of the flag that is 0", withLimb({ equal: { by: 6, flag: FLAG, terms: [] } })],
    ["not a product of the flag that is 0", withLimb({ equal: { by: 5, flag: LESS, terms: [] } })],
    [
      "the flag is not about the limb's difference",
      withLimb({ equal: { by: 5, flag: FLAG, terms: [{ by: 2, scale: 1n }] } }),
    ],
    [
      "a difference above P",
      {
        step: { quotient: [{ wire: LOW, weight: 1n }], vanishing: [] },
        constraints: {
          0: [{ [LOW]: 1n }, { [DIVISOR]: 2n }, { [DIVIDEND]: 1n, [REMAINDER]: -1n }],
          2: [{}, {}, { [DIVISOR]: -1n, [FIRST_BIT + 2]: (2n * P) / 5n }],
          4: [{}, {}, { ...HONEST[4]?.[2], [DIVISOR]: 2n }],
          5: [{ [REMAINDER]: 1n, [DIVISOR]: -2n, 0: (2n * P) / 5n }, { [FLAG]: 1n }, {}],
          6: [{ [REMAINDER]: 1n, [DIVISOR]: -2n, 0: (2n * P) / 5n }, { [FACTOR]: 1n }, { 0: 1n, [FLAG]: -1n }],
        },
      },
    ],
    ["a constraint with too many products", { constraints: { 0: [many, many, product[2]] } }],
    [`wire ${OTHER} has no value`, { step: { definitions: [] } }],
    ["a value of a wire that has one", { step: { definitions: [...STEP.definitions, ...STEP.definitions] } }],
    ["a value of a wire that has one", { step: { definitions: [{ by: 7, wire: LESS }] } }],
  ];
  for (const [i, [message, change]] of refused.entries())
    it(`${message} (${i})`, () => {
      expect(() => replay(change)).to.throw(message);
    });
});
