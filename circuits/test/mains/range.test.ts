import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { Circuit } from "../kit/circuit.ts";
import { looseWires } from "../kit/evaluate.ts";
import { Random } from "../model/random.ts";
import { makeRange, type RangeChoices } from "../model/range.ts";

const ROUNDS = process.env["SOTTO_LONG"] ? 200 : 8;
const MAX = 2n ** 64n - 1n;
const random = new Random(21);

describe("elgamal_range at full size", function () {
  slow(this, "circuits are compiled, and witnesses made");
  let circuit: Circuit;
  let witness: bigint[];

  before(async () => {
    circuit = await Circuit.load("elgamal_range");
  });

  it(`computes the model's signals for ${ROUNDS} random statements`, async () => {
    for (let i = 0; i < ROUNDS; i++) witness = await circuit.accept(makeRange(random));
  });

  const edges: Record<string, Partial<RangeChoices>> = {
    "an amount on its lower bound": { amount: 5n, lowerBound: 5n, upperBound: 9n },
    "an amount on its upper bound": { amount: 9n, lowerBound: 5n, upperBound: 9n },
    "bounds that are one amount": { amount: 7n, lowerBound: 7n, upperBound: 7n },
    "all amounts there are": { amount: 7n, lowerBound: 0n, upperBound: MAX },
    "amount 0": { amount: 0n, lowerBound: 0n, upperBound: 0n },
    "the largest amount": { amount: MAX, lowerBound: MAX, upperBound: MAX },
  };
  for (const [name, chosen] of Object.entries(edges))
    it(`accepts ${name}`, async () => {
      await circuit.accept(makeRange(random, chosen));
    });

  it("rejects a witness with any single wire changed", () => {
    expect(looseWires(circuit.build.r1cs, witness)).to.deep.equal([]);
  });
});
