import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { Circuit } from "../kit/circuit.ts";
import { looseWires } from "../kit/evaluate.ts";
import { Random } from "../model/random.ts";
import { chooseWithdrawal, makeWithdrawal, type WithdrawalChoices } from "../model/withdrawal.ts";

const ROUNDS = process.env["SOTTO_LONG"] ? 20 : 1;
const MAX = 2n ** 64n - 1n;
const random = new Random(22);

describe("withdrawal at full size", function () {
  slow(this, "circuits are compiled, and witnesses made");
  let circuit: Circuit;
  let witness: bigint[];

  before(async () => {
    circuit = await Circuit.load("withdrawal");
  });

  const withdraw = (enabled: number, chosen: Partial<WithdrawalChoices> = {}) =>
    circuit.accept(makeWithdrawal(chooseWithdrawal(random, { depth: 10, inputs: 8, enabled }, chosen)));

  it(`computes the model's signals for 1 to 8 notes, ${ROUNDS} time(s)`, async () => {
    for (let round = 0; round < ROUNDS; round++) for (const enabled of [1, 3, 8]) witness = await withdraw(enabled);
  });

  it("accepts a withdrawal of everything and a merge of everything", async () => {
    const choices = chooseWithdrawal(random, { depth: 10, inputs: 8, enabled: 2 });
    const total = choices.notes.reduce((sum, { amount }) => sum + amount, 0n);
    await circuit.accept(makeWithdrawal({ ...choices, amount: total, outputAmount: 0n }));
    await circuit.accept(makeWithdrawal({ ...choices, amount: 0n, outputAmount: total }));
  });

  it("accepts the largest amount and the largest output together: eight inputs can be worth more than 64 bits", async () => {
    const choices = chooseWithdrawal(random, { depth: 10, inputs: 8, enabled: 2 });
    const notes = choices.notes.map((note) => (note.enabled === 1n ? { ...note, amount: MAX } : note));
    await circuit.accept(makeWithdrawal({ ...choices, notes, amount: MAX, outputAmount: MAX }));
  });

  it("rejects a witness with any single wire changed", () => {
    expect(looseWires(circuit.build.r1cs, witness)).to.deep.equal([]);
  });
});
