import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { Random } from "@sotto/test-kit/random";
import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import fc from "fast-check";
import {
  assertMeteredValues,
  changeOf,
  chargeOf,
  isPrepaidValue,
  MAX_CHANGE_TOKENS,
  type MeteredRule,
  meteredValues,
  nextSwap,
  swapRecipes,
} from "../../../src/index.ts";
import { RULE } from "./support/samples.ts";

const sumOf = (values: readonly bigint[]) => values.reduce((sum, value) => sum + value, 0n);
const ruleOf = (cap: bigint, grain: bigint): MeteredRule => ({
  base: 0n,
  units: [{ name: "used", price: 1n, per: 1 }],
  cap,
  grain,
});

/** Every rule's cap and grain up to a power of ten. */
const RULES = [100n, 200n, 500n].flatMap((cap) =>
  [1n, 2n, 5n, 10n, 20n, 50n, 100n, 200n, 500n]
    .filter((grain) => grain * 100n >= cap && cap % grain === 0n)
    .map((grain) => ruleOf(cap, grain)),
);
const GRID = [1n, 2n, 5n, 10n, 20n, 50n, 100n];

/** The tokens after a swap. */
function swap(held: readonly bigint[], values: readonly bigint[]): readonly bigint[] | undefined {
  const recipe = nextSwap(values, held);
  if (recipe === undefined) return undefined;
  const rest = [...held];
  for (const value of recipe.spend) {
    const at = rest.indexOf(value);
    expect(at, "a swap spends tokens that the wallet has").to.be.greaterThan(-1);
    rest.splice(at, 1);
  }
  return [...rest, ...recipe.receive];
}

function swapAll(held: readonly bigint[], values: readonly bigint[]): readonly bigint[] {
  for (let tokens = held; ; ) {
    const next = swap(tokens, values);
    if (next === undefined) return tokens;
    tokens = next;
  }
}

describe("the values of a metered route", () => {
  it("are those of prepaid tokens from the grain to the cap, at most 7", () => {
    expect(meteredValues(RULE)).to.deep.equal([100n, 200n, 500n, 1000n, 2000n, 5000n, 10_000n]);
    expect(meteredValues(ruleOf(1n, 1n))).to.deep.equal([1n]);
    for (const rule of RULES) {
      const values = meteredValues(rule);
      expect(values.length).to.be.within(1, 7);
      expect(values.every(isPrepaidValue)).to.equal(true);
      expect([values[0], values.at(-1)]).to.deep.equal([rule.grain, rule.cap]);
    }
    expect(meteredValues(ruleOf(10n ** 19n, 10n ** 17n))).to.have.length(7);
  });

  it("need a key each, and the error names those that are missing", () => {
    const values = meteredValues(RULE);
    assertMeteredValues(RULE, values);
    assertMeteredValues(RULE, [1n, ...values, 20_000n]);
    expectCode("INVALID_ARGUMENT", () => assertMeteredValues(RULE, [100n, 500n, 1000n, 5000n, 10_000n]), /200, 2000$/);
    expectCode("INVALID_ARGUMENT", () => assertMeteredValues(RULE, []));
    expectCode("INVALID_ARGUMENT", () => assertMeteredValues(RULE, null as never));
    expectCode("INVALID_AMOUNT", () => assertMeteredValues(RULE, [3n]));
  });
});

describe("the change of a request", () => {
  it("is the cap minus the charge, in the largest values first", () => {
    expect(changeOf(RULE, 3000n)).to.deep.equal([5000n, 2000n]);
    expect(changeOf(RULE, 100n)).to.deep.equal([5000n, 2000n, 2000n, 500n, 200n, 200n]);
    expect(changeOf(RULE, 10_000n)).to.deep.equal([]);
    expect(changeOf(RULE, 0n)).to.deep.equal([10_000n]);
    // 50 is not a multiple of 20, but 100 is.
    expect(changeOf(ruleOf(200n, 20n), 20n)).to.deep.equal([100n, 20n, 20n, 20n, 20n]);
  });

  it("has the right sum and at most 8 tokens for every charge of every rule", () => {
    let most = 0;
    for (const rule of RULES)
      for (let charge = 0n; charge <= rule.cap; charge += rule.grain) {
        const change = changeOf(rule, charge);
        expect(sumOf(change) + charge).to.equal(rule.cap);
        expect(change.every((value) => meteredValues(rule).includes(value))).to.equal(true);
        expect([...change].sort((a, b) => (a > b ? -1 : 1))).to.deep.equal(change);
        most = Math.max(most, change.length);
      }
    expect(most).to.equal(MAX_CHANGE_TOKENS);
  });

  it("is refused for a charge that is above the cap or not a multiple of the grain", () => {
    for (const charge of [10_100n, 50n, 3001n, -100n, 1n << 64n, 100, "100", undefined])
      expectCode("INVALID_AMOUNT", () => changeOf(RULE, charge as bigint));
    expectCode("INVALID_ARGUMENT", () => changeOf({ ...RULE, grain: 1n }, 100n));
  });
});

describe("swaps", () => {
  it("are the four recipes at each power of ten, those that save the most tokens first", () => {
    const all = swapRecipes(GRID).map(({ spend, receive }) => `${spend.join("+")}=${receive.join("+")}`);
    expect(all).to.deep.equal([
      "2+2+2+2+2=5+5",
      "20+20+20+20+20=50+50",
      "1+2+2=5",
      "10+20+20=50",
      "1+1=2",
      "10+10=20",
      "5+5=10",
      "50+50=100",
    ]);
  });

  it("keep the sum and lower the number of tokens, for any values", () => {
    const value = fc
      .tuple(fc.constantFrom(1n, 2n, 5n), fc.integer({ min: 0, max: 18 }))
      .map(([digit, power]) => digit * 10n ** BigInt(power));
    fc.assert(
      fc.property(fc.uniqueArray(value, { maxLength: 12 }), (values) => {
        for (const { spend, receive } of swapRecipes(values)) {
          expect(sumOf(spend)).to.equal(sumOf(receive));
          expect(receive.length).to.be.lessThan(spend.length);
          expect([...spend, ...receive].every((each) => values.includes(each))).to.equal(true);
        }
      }),
      { numRuns: fuzzSize(200, 4_000) },
    );
  });

  it("need all their values: nothing is swapped for tokens that no key signs", () => {
    expect(swapRecipes([])).to.deep.equal([]);
    expect(swapRecipes([1n, 5n, 10n]).map(({ receive }) => receive)).to.deep.equal([[10n]]);
    expect(nextSwap([1n, 5n], [1n, 1n, 5n, 5n])).to.equal(undefined);
    expect(nextSwap(GRID, [1n, 1n])).to.deep.equal({ spend: [1n, 1n], receive: [2n] });
    expect(nextSwap(GRID, [1n, 2n, 1n, 2n])?.receive).to.deep.equal([5n]);
    expect(nextSwap(GRID, [200n, 200n, 3n * 0n + 1n])).to.equal(undefined);
    for (const wrong of [null, 5, [3n], [1], Array(13).fill(1n)])
      expectCode(Array.isArray(wrong) && wrong.length < 13 ? "INVALID_AMOUNT" : "INVALID_ARGUMENT", () =>
        swapRecipes(wrong as never),
      );
    expectCode("INVALID_AMOUNT", () => nextSwap(GRID, [3n]));
    expectCode("INVALID_ARGUMENT", () => nextSwap(GRID, undefined as never));
  });

  it("end with the same sum, fewer than two caps below the cap, and no further swap", () => {
    const rule = fc.constantFrom(...RULES);
    fc.assert(
      fc.property(rule, fc.array(fc.nat({ max: 1000 }), { maxLength: 60 }), ({ cap, grain }, picks) => {
        const values = meteredValues(ruleOf(cap, grain));
        const held = picks.map((pick) => values[pick % values.length]!);
        const swapped = swapAll(held, values);
        expect(sumOf(swapped)).to.equal(sumOf(held));
        expect(swapped.length).to.be.at.most(held.length);
        expect(nextSwap(values, swapped)).to.equal(undefined);
        expect(sumOf(swapped.filter((value) => value < cap)) < 2n * cap).to.equal(true);
      }),
      { numRuns: fuzzSize(300, 5_000) },
    );
  });

  // Four tokens of 2/5 of the cap cannot be swapped, so a cap that begins with 5 holds more.
  for (const [cap, grain, limit] of [
    [100n, 1n, 2.5],
    [100n, 5n, 2.5],
    [200n, 2n, 2.5],
    [500n, 5n, 2.9],
  ] as const)
    it(`leave at most ${limit} caps with 20,000 requests of a tenth of the cap ${cap}, with the grain ${grain}`, () => {
      const rule = ruleOf(cap, grain);
      const values = meteredValues(rule);
      const random = new Random(`change of ${cap} by ${grain}`);
      let held: readonly bigint[] = [];
      let [bought, charged, most, tokens] = [0n, 0n, 0n, 0];
      for (let request = 0; request < 20_000; request++) {
        if (!held.includes(cap)) {
          held = [...held, cap];
          bought += cap;
        }
        const sum = sumOf(held);
        if (sum > most) most = sum;
        tokens = Math.max(tokens, held.length);
        // From 0 to a fifth of the cap, a tenth on average.
        const charge = chargeOf(rule, { used: random.below(Number(cap / 5n) + 1) });
        charged += charge;
        const rest = [...held];
        rest.splice(rest.indexOf(cap), 1);
        held = swapAll([...rest, ...changeOf(rule, charge)], values);
        expect(sumOf(held)).to.equal(bought - charged);
      }
      expect(Number(most) / Number(cap)).to.be.at.most(limit);
      expect(tokens).to.be.at.most(20);
    });
});
