import {
  add,
  BASE8,
  invert,
  montgomeryEighth,
  multiply,
  negate,
  ORDER,
  toMontgomery,
} from "@sotto/certify/check/curve";
import { mod } from "@sotto/certify/check/field";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { compile } from "../kit/compile.ts";
import { openWires } from "../kit/determined.ts";
import { violations } from "../kit/evaluate.ts";
import { gadget, sources } from "../kit/gadget.ts";
import type { Inputs } from "../kit/witness.ts";
import { ephemeralScalar } from "../model/encrypt.ts";
import { bitsOf } from "../model/tree.ts";

// If an incomplete addition divides 0 by 0, the prover can choose its slope and so its sum. Such a slope is an open wire:
// no constraint determines it. No slope may be open, for any amount, scalar or key.
const MAX = 2n ** 64n - 1n;
const ALL = 2n ** 249n - 1n;
const AMOUNTS = [
  0n,
  1n,
  2n,
  3n,
  4n,
  5n,
  6n,
  7n,
  8n,
  15n,
  63n,
  511n,
  2n ** 63n - 1n,
  2n ** 63n,
  MAX - 7n,
  MAX - 1n,
  MAX,
];
const signs = (value: bigint, count: number, w = 1n) => bitsOf(value, count).map((bit) => mod(bit === 1n ? w : -w));

const amountPoint = gadget("lib/amount_point.circom", "AmountPoint()");
const fixed = gadget("lib/fixed_base.circom", "FixedBase(21)");
const elgamal = gadget("lib/elgamal.circom", "ElGamal()");

async function openAt(main: string, inputs: Inputs): Promise<number> {
  const build = await compile(sources, main, "plain");
  const witness = await build.witness(inputs);
  expect(violations(build.r1cs, witness)).to.deep.equal([]);
  return openWires(build.r1cs, witness).length;
}

describe("the prover cannot choose a slope", function () {
  slow(this, "circuits are compiled, and witnesses made");
  before(() => Promise.all([amountPoint, fixed, elgamal].map((main) => compile(sources, main, "plain"))));

  it("for amounts at edge values", async () => {
    for (const amount of AMOUNTS)
      expect(await openAt(amountPoint, { bits: bitsOf(amount, 64) }), `${amount}`).to.equal(0);
  });

  it("for scalars at edge values, and the keys +-Base8", async () => {
    for (const scalar of [0n, 2n ** 248n, ALL])
      for (const key of [BASE8, negate(BASE8)]) {
        const inputs = { recipientQ: montgomeryEighth(key), scalar, amountBits: bitsOf(7n, 64) };
        expect(await openAt(elgamal, inputs), `${scalar}`).to.equal(0);
      }
  });

  it("for a payer that knows the key and makes S the amount's point or its opposite", async () => {
    const [scalar, amount] = [123456789n, 1_000_000n];
    const inverse = invert(ephemeralScalar(scalar) % ORDER);
    for (const multiple of [amount, ORDER - amount]) {
      const key = multiply(BASE8, (multiple * inverse) % ORDER);
      const inputs = { recipientQ: montgomeryEighth(key), scalar, amountBits: bitsOf(amount, 64) };
      expect(await openAt(elgamal, inputs)).to.equal(0);
    }
  });

  it("detects a free slope (control): a sum that equals the window to be added", async () => {
    // The first row of the table has the exponents 0, 1 and 3.
    const window = add(BASE8, add(multiply(BASE8, 2n), multiply(BASE8, 8n)));
    const start = toMontgomery(window);
    expect(await openAt(fixed, { start, signs: signs(2n ** 63n - 1n, 63), square: 1 })).to.be.above(0);
  });
});
