import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { Circuit } from "../kit/circuit.ts";
import { looseWires } from "../kit/evaluate.ts";
import { commitment, ownerTag } from "../model/hash.ts";
import { chooseOrigin, makeOrigin, type OriginChoices } from "../model/origin.ts";
import { Random } from "../model/random.ts";
import { Tree } from "../model/tree.ts";

const ROUNDS = process.env["SOTTO_LONG"] ? 200 : 8;
const random = new Random(23);

describe("origin at full size", function () {
  slow(this, "circuits are compiled, and witnesses made");
  let circuit: Circuit;
  let witness: bigint[];

  before(async () => {
    circuit = await Circuit.load("origin");
  });

  const show = (chosen: Partial<OriginChoices> = {}) => circuit.accept(makeOrigin(chooseOrigin(random, chosen)));

  it(`computes the model's signals for ${ROUNDS} random notes among others of the set`, async () => {
    for (let i = 0; i < ROUNDS; i++) {
      const tree = new Tree(10);
      for (let other = 0; other < 5; other++) tree.set(random.below(2n ** 30n), random.field());
      witness = await show({ tree });
    }
  });

  const spendingKey = 5n;
  const twins = new Tree(10);
  twins.set(8n, commitment(7n, ownerTag(spendingKey), 6n));
  const edges: Record<string, Partial<OriginChoices>> = {
    "the only leaf of a set": {},
    "the first leaf": { leafIndex: 0n },
    "the last leaf": { leafIndex: 2n ** 30n - 1n },
    "the last leaf of a subtree": { leafIndex: 2n ** 15n - 1n },
    "the first leaf of the next subtree": { leafIndex: 2n ** 15n },
    "a note of 0": { amount: 0n },
    "the largest amount": { amount: 2n ** 64n - 1n },
    "an equal commitment at another index": { spendingKey, amount: 7n, blinding: 6n, leafIndex: 9n, tree: twins },
    "zeros wherever a number is free": { spendingKey: 0n, amount: 0n, blinding: 0n, leafIndex: 0n },
  };
  for (const [name, chosen] of Object.entries(edges))
    it(`accepts ${name}`, async () => {
      await show(chosen);
    });

  it("rejects a witness with any single wire changed, also a public signal", () => {
    expect(looseWires(circuit.build.r1cs, witness)).to.deep.equal([]);
  });
});
