import { createHash } from "node:crypto";
import { SottoError } from "@sotto/protocol";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import fc from "fast-check";
import {
  assertMeteredRule,
  assertUnitCounts,
  chargeOf,
  decodeMeteredRule,
  encodeMeteredRule,
  MAX_METERED_RULE_LENGTH,
  MAX_METERED_UNITS,
  type MeteredRule,
  meteredRuleHash,
} from "../../../src/index.ts";
import { RULE, VECTORS } from "./support/samples.ts";

describe("the rule of a metered route", () => {
  it("has one JSON text and one hash, which another implementation computes alike", () => {
    expect(JSON.stringify(encodeMeteredRule(RULE))).to.equal(VECTORS.rule.json);
    expect(meteredRuleHash(RULE)).to.equal(VECTORS.rule.hash);
    const digest = createHash("sha256").update(`sotto/v1/metered-rule\n${VECTORS.rule.json}`).digest("hex");
    expect(`0x${digest}`).to.equal(VECTORS.rule.hash);
    const decoded = decodeMeteredRule(JSON.parse(VECTORS.rule.json));
    expect(decoded).to.deep.equal(RULE);
    expect(meteredRuleHash(decoded)).to.equal(VECTORS.rule.hash);
  });

  it("has another hash after any change", () => {
    const [input, output] = RULE.units;
    const changes: Partial<MeteredRule>[] = [
      { base: 101n },
      { cap: 5_000n },
      { grain: 200n },
      { units: [input!] },
      { units: [input!, { ...output!, price: 1n }] },
      { units: [input!, { ...output!, per: 1000 }] },
      { units: [input!, { ...output!, name: "outputs" }] },
    ];
    const hashes = [{}, ...changes].map((change) => meteredRuleHash({ ...RULE, ...change }));
    expect(new Set(hashes).size).to.equal(changes.length + 1);
  });

  it("cannot be changed after it was checked", () => {
    const units = RULE.units.map((unit) => ({ ...unit }));
    const rule = assertMeteredRule({ ...RULE, units });
    units[0]!.price = 0n;
    expect(rule).to.deep.equal(RULE);
    expect(assertMeteredRule(rule)).to.equal(rule);
    for (const object of [rule, rule.units, rule.units[0]]) expect(Object.isFrozen(object)).to.equal(true);
  });

  it("is refused if a field is missing, unknown, malformed or out of its limits", () => {
    const wire = encodeMeteredRule(RULE);
    const [input, output] = wire.units;
    const withUnit = (change: object) => ({ ...wire, units: [{ ...input, ...change }] });
    const wrong = [
      ...[null, undefined, [], {}, "", 5, { ...wire, minimum: "5" }, { ...wire, base: undefined }],
      ...[100, "0100", "-1", "1.5", "", null, "18446744073709551616", "10001"].map((base) => ({ ...wire, base })),
      ...[10_000, "3000", "0", "", "18446744073709551616", null].map((cap) => ({ ...wire, cap })),
      ...[100, "0", "300", "20000", "50", "1", "", null].map((grain) => ({ ...wire, grain })),
      { ...wire, cap: "50", grain: "20", base: "0" },
      ...[[], {}, null, "units", [null], [output, input], [input, input], Array(33).fill(input)].map((units) => ({
        ...wire,
        units,
      })),
      ...[
        ...["", "Input", "1st", "in put", "in-put", "_input", "x".repeat(33), "constructor", "prototype", null, 7],
        ..."__proto__,é,input\n".split(","),
      ].map((name) => withUnit({ name })),
      ...[5, "05", "-5", "0.1", "", "18446744073709551616", null].map((price) => withUnit({ price })),
      ...[0, 10, 999, "1000", 1_000_000_000_000, Number.NaN, null].map((per) => withUnit({ per })),
      withUnit({ currency: "EUR" }),
    ];
    for (const value of wrong) expectCode("INVALID_ARGUMENT", () => decodeMeteredRule(value));
    for (const value of [null, {}, wire, { ...RULE, cap: 10_000 }, { ...RULE, units: [undefined] }])
      expectCode("INVALID_ARGUMENT", () => assertMeteredRule(value));
  });

  it("says which limit it exceeds", () => {
    const refuse = (change: Partial<MeteredRule>, message: RegExp) =>
      expectCode("INVALID_ARGUMENT", () => assertMeteredRule({ ...RULE, ...change }), message);
    refuse({ grain: 50n }, /grain is 50, but it must be at least 10000 \/ 100/);
    refuse({ grain: 20_000n }, /grain is 20000, but it must divide the cap 10000/);
    refuse({ cap: 500n, grain: 200n }, /must divide the cap 500/);
    refuse({ base: 20_000n }, /base is 20000, but the cap is 10000/);
  });

  it("fits into its size limit with the maximum number of units and the longest values", () => {
    const units = Array.from({ length: MAX_METERED_UNITS }, (_, i) => ({
      name: `u${String(i).padStart(31, "0")}`,
      price: (1n << 64n) - 1n,
      per: 1_000_000_000,
    }));
    const rule = { base: 10n ** 19n, units, cap: 10n ** 19n, grain: 10n ** 17n };
    expect(JSON.stringify(encodeMeteredRule(rule)).length).to.be.within(
      MAX_METERED_RULE_LENGTH / 2,
      MAX_METERED_RULE_LENGTH,
    );
  });

  it("never fails without a code on any JSON", () => {
    const wire = encodeMeteredRule(RULE);
    const attempt = (value: unknown) => {
      try {
        decodeMeteredRule(value);
      } catch (error) {
        expect(error).to.be.instanceOf(SottoError);
      }
    };
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(...Object.keys(wire)), (value, field) => {
        for (const each of [value, { ...wire, [field]: value }, { ...wire, units: [value] }]) attempt(each);
      }),
      { numRuns: fuzzSize(300, 5_000) },
    );
  });
});

describe("the charge of a request", () => {
  it("is base plus units, rounded up to the grain, at most the cap", () => {
    const charge = (input: number, output: number) => chargeOf(RULE, { input, output });
    expect(chargeOf(RULE, {})).to.equal(100n);
    expect(charge(0, 0)).to.equal(100n);
    // One token costs 0.15 base units: the first one begins the next grain.
    expect(charge(1, 0)).to.equal(200n);
    expect(charge(666, 0)).to.equal(200n);
    expect(charge(667, 0)).to.equal(300n);
    expect(charge(1200, 4500)).to.equal(3000n);
    expect(charge(0, 16_500)).to.equal(10_000n);
    expect(charge(0, 16_501)).to.equal(10_000n);
    expect(chargeOf({ ...RULE, base: 0n }, {})).to.equal(0n);
    expect(chargeOf({ ...RULE, base: 10_000n }, {})).to.equal(10_000n);
  });

  it("does not overflow: the highest price and count are the cap", () => {
    const max = (1n << 64n) - 1n;
    const units = Array.from({ length: 32 }, (_, i) => ({ name: `u${10 + i}`, price: max, per: 1 }));
    const counts = Object.fromEntries(units.map(({ name }) => [name, max]));
    const rule = { base: 10n ** 19n, units, cap: 10n ** 19n, grain: 10n ** 17n };
    expect(chargeOf(rule, counts)).to.equal(10n ** 19n);
    const tiny = { ...rule, base: 0n, units: [{ name: "x", price: 1n, per: 1_000_000_000 }] };
    expect(chargeOf(tiny, { x: max })).to.equal(10n ** 17n);
    expect(chargeOf(tiny, { x: 1 })).to.equal(10n ** 17n);
  });

  it("refuses counts that are not integers from 0 to 2^64 - 1, and units that the rule does not price", () => {
    for (const count of [
      Number.NaN,
      -1,
      0.5,
      Number.POSITIVE_INFINITY,
      2 ** 53,
      2 ** 64,
      1n << 64n,
      -1n,
      "5",
      null,
      {},
    ])
      expectCode("INVALID_INTEGER", () => chargeOf(RULE, { input: count as number }), /the count of input must be/);
    expectCode("INVALID_ARGUMENT", () => chargeOf(RULE, { bytes: 5 }), /unit bytes; it prices input, output/);
    for (const name of ["__proto__x", "toString", "constructor", ""])
      expectCode("INVALID_STRING", () => chargeOf(RULE, { [name]: 5 }));
    expectCode("INVALID_STRING", () => chargeOf(RULE, JSON.parse('{"__proto__": 5}')));
    for (const counts of [
      null,
      undefined,
      5,
      "",
      [5],
      Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`u${i}`, 1])),
    ])
      expectCode("INVALID_ARGUMENT", () => chargeOf(RULE, counts as never));
    expectCode("INVALID_ARGUMENT", () => chargeOf({ ...RULE, cap: 3n }, {}));
    expect(assertUnitCounts({ output: 5, input: 0, bytes: 7n })).to.deep.equal({ bytes: 7n, output: 5n });
  });

  it("is the least multiple of the grain that pays for the sum, up to the cap, and never falls when units are added", () => {
    const count = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
    const small = fc.bigInt({ min: 0n, max: 1n << 20n });
    fc.assert(
      fc.property(
        fc.record({
          power: fc.integer({ min: 0, max: 16 }),
          cap: fc.constantFrom(100n, 200n, 500n),
          base: small,
          prices: fc.array(fc.tuple(small, fc.constantFrom(1, 1000, 1_000_000, 1_000_000_000)), {
            minLength: 1,
            maxLength: 4,
          }),
        }),
        fc.array(fc.oneof(small, count), { minLength: 4, maxLength: 4 }),
        small,
        ({ power, cap: top, base, prices }, counts, more) => {
          const scale = 10n ** BigInt(power);
          const [cap, grain] = [top * scale, (top / 100n) * scale];
          const units = prices.map(([price, per], i) => ({ name: `u${i}`, price, per }));
          const rule = { base: base < cap ? base : cap, units, cap, grain };
          const used = Object.fromEntries(units.map(({ name }, i) => [name, counts[i]!]));
          const charge = chargeOf(rule, used);
          // The sum in billionths, by another order of operations than the rule's.
          let sum = rule.base * 1_000_000_000n;
          for (const [i, [price, per]] of prices.entries()) sum += (counts[i]! * price * 1_000_000_000n) / BigInt(per);
          expect(charge % grain).to.equal(0n);
          expect(charge <= cap).to.equal(true);
          if (charge < cap) expect(charge * 1_000_000_000n >= sum).to.equal(true);
          if (charge > 0n) expect((charge - grain) * 1_000_000_000n < sum).to.equal(true);
          const after = { ...used, u0: (used["u0"]! + more) & ((1n << 64n) - 1n) };
          if (after.u0 >= used["u0"]!) expect(chargeOf(rule, after) >= charge).to.equal(true);
        },
      ),
      { numRuns: fuzzSize(500, 10_000) },
    );
  });
});
