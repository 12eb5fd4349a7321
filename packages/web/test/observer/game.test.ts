import { expect } from "chai";
import { drawRound, MAX_CHOICES, NO_SCORE, type Random, scored, secureRandom } from "../../src/pages/observer/game.ts";

/** Counts in a fixed sequence (a linear congruential generator), so that every run draws the same notes. */
function sequence(): Random {
  let state = 12_345;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

const ROUNDS = 8_000;

describe("the game's draw", () => {
  const payment = { payment: "a", spent: 17, leaves: 40 };

  it("includes the spent note, and other leaves under the root, each once", () => {
    const random = sequence();
    for (let i = 0; i < 500; i += 1) {
      const round = drawRound([payment], random)!;
      expect(round.choices).to.include(17).and.have.lengthOf(MAX_CHOICES);
      expect(new Set(round.choices).size).to.equal(MAX_CHOICES);
      expect(round.choices.every((leaf) => leaf >= 0 && leaf < 40)).to.equal(true);
    }
  });

  it("shows all notes of a small crowd", () => {
    const { choices } = drawRound([{ payment: "a", spent: 2, leaves: 3 }], sequence())!;
    expect([...choices].sort()).to.deep.equal([0, 1, 2]);
  });

  it("puts the spent note at each position equally often, and shows each other note with it", () => {
    const random = sequence();
    const places = Array<number>(MAX_CHOICES).fill(0);
    const beside = Array<number>(40).fill(0);
    for (let i = 0; i < ROUNDS; i += 1) {
      const { choices } = drawRound([payment], random)!;
      places[choices.indexOf(17)]! += 1;
      for (const leaf of choices) beside[leaf]! += 1;
    }
    // Six standard deviations around the expected counts.
    expect(Math.max(...places.map((count) => Math.abs(count - ROUNDS / 8)))).to.be.below(180);
    const others = beside.filter((_, leaf) => leaf !== 17);
    expect(Math.max(...others.map((count) => Math.abs(count - (ROUNDS * 7) / 39)))).to.be.below(210);
  });

  it("draws each payment equally often, and shuffles the choices", () => {
    const random = sequence();
    const payments = ["a", "b", "c", "d"].map((name) => ({ payment: name, spent: 1, leaves: 40 }));
    const counts = new Map<string, number>();
    const orders = new Set<string>();
    for (let i = 0; i < ROUNDS; i += 1) {
      const round = drawRound(payments, random)!;
      counts.set(round.payment, (counts.get(round.payment) ?? 0) + 1);
      orders.add(round.choices.join());
    }
    for (const count of counts.values()) expect(Math.abs(count - ROUNDS / 4)).to.be.below(240);
    expect(orders.size).to.be.above(ROUNDS * 0.99);
  });

  it("is undefined if no payment has at least two notes that it could have spent", () => {
    expect(drawRound([], sequence())).to.equal(undefined);
    expect(drawRound([{ payment: "a", spent: 0, leaves: 1 }], sequence())).to.equal(undefined);
    expect(drawRound([{ payment: "a", spent: 9, leaves: 9 }], sequence())).to.equal(undefined);
  });

  it("draws numbers below the bound from the browser's random generator", () => {
    const drawn = new Set(Array.from({ length: 400 }, () => secureRandom(5)));
    expect([...drawn].sort()).to.deep.equal([0, 1, 2, 3, 4]);
    expect(secureRandom(1)).to.equal(0);
  });
});

describe("the game's score", () => {
  it("compares hits with the expected hits of random guessing", () => {
    const score = scored(scored(NO_SCORE, 8, false), 4, true);
    expect(score).to.deep.equal({ rounds: 2, hits: 1, chance: 0.375 });
  });
});
