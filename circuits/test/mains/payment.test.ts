import { BASE8, multiply, ORDER } from "@sotto/certify/check/curve";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { Circuit } from "../kit/circuit.ts";
import { looseWires } from "../kit/evaluate.ts";
import { choosePayment, makePayment, type PaymentChoices } from "../model/payment.ts";
import { Random } from "../model/random.ts";
import { Tree } from "../model/tree.ts";

const ROUNDS = process.env["SOTTO_LONG"] ? 200 : 8;
const MAX = 2n ** 64n - 1n;
const SCALARS = 2n ** 249n - 1n;
const random = new Random(20);

describe("payment at full size", function () {
  slow(this, "circuits are compiled, and witnesses made");
  let circuit: Circuit;
  let witness: bigint[];

  before(async () => {
    circuit = await Circuit.load("payment");
  });

  const pay = (chosen: Partial<PaymentChoices> = {}) => circuit.accept(makePayment(choosePayment(random, chosen)));

  it(`computes the model's signals for ${ROUNDS} random payments`, async () => {
    for (let i = 0; i < ROUNDS; i++) {
      const tree = new Tree(10);
      for (let other = 0; other < 5; other++) tree.set(random.below(2n ** 30n), random.field());
      witness = await pay({ tree });
    }
  });

  const edges: Record<string, Partial<PaymentChoices>> = {
    "amount 0": { amount: 0n },
    "change 0": { changeAmount: 0n },
    "nothing at all": { amount: 0n, changeAmount: 0n },
    "the largest amount and the largest change": { amount: MAX, changeAmount: MAX },
    "the first leaf": { leafIndex: 0n },
    "the last leaf": { leafIndex: 2n ** 30n - 1n },
    "the last leaf of a subtree": { leafIndex: 2n ** 15n - 1n },
    "the first leaf of the next subtree": { leafIndex: 2n ** 15n },
    "the smallest scalar": { scalar: 0n },
    "the largest scalar": { scalar: SCALARS },
    "the key Base8": { recipientKey: BASE8 },
    "the key -Base8": { recipientKey: multiply(BASE8, ORDER - 1n) },
    "zeros wherever a number is free": {
      spendingKey: 0n,
      inputBlinding: 0n,
      wallet: 0n,
      recipientTag: 0n,
      senderNonce: 0n,
    },
  };
  for (const [name, chosen] of Object.entries(edges))
    it(`accepts ${name}`, async () => {
      await pay(chosen);
    });

  it("rejects a witness with any single wire changed, also a public signal", () => {
    expect(looseWires(circuit.build.r1cs, witness)).to.deep.equal([]);
  });
});
