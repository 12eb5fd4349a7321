import * as curve from "@sotto/certify/check/curve";
import { mod, P } from "@sotto/certify/check/field";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { gadget, list, prepare, run } from "../kit/gadget.ts";
import { Random } from "../model/random.ts";
import { otherY, T2, T4, T8 } from "../model/small-order.ts";

const { add, BASE8, IDENTITY, multiply, negate, ORDER, toMontgomery } = curve;
const random = new Random(3);
const point = () => multiply(BASE8, random.below(ORDER - 1n) + 1n);
const onCurve = gadget("lib/montgomery.circom", "OnMontgomeryCurve()");
const addScaled = gadget("lib/montgomery.circom", "AddScaled()");
const edwardsX = gadget("lib/edwards.circom", "EdwardsX()");
const edwardsY = gadget("lib/edwards.circom", "EdwardsY()");
const sumX = gadget("lib/edwards.circom", "EdwardsSumX()");
const recipientKey = gadget("lib/recipient_key.circom", "RecipientKey()");

describe("curve gadgets against @noble/curves", function () {
  slow(this, "circuits are compiled, and witnesses made");
  before(() => prepare(onCurve, addScaled, edwardsX, edwardsY, sumX, recipientKey));

  it("accepts every point of the curve, inside and outside the subgroup", async () => {
    for (const candidate of [BASE8, negate(BASE8), point(), T8, T4, add(BASE8, T8), otherY(BASE8)])
      await run(onCurve, { point: toMontgomery(candidate) });
    // (0, 0) is the point of order 2.
    await run(onCurve, { point: [0, 0] });
  });

  it("adds on the curve and on the curve scaled by w", async () => {
    for (const w of [1n, 2n, P - 1n, random.field()]) {
      const scale = ([u, v]: curve.Pair) => [mod(w * w * u), mod(w * w * w * v)];
      const [a, b] = [point(), point()];
      const read = await run(addScaled, { a: scale(toMontgomery(a)), b: scale(toMontgomery(b)), square: w * w });
      expect(list(read, "sum", 2)).to.deep.equal(scale(toMontgomery(add(a, b))));
    }
  });

  it("converts every point except (0, 0) to Edwards form", async () => {
    for (const candidate of [BASE8, negate(BASE8), point(), T8, T4, multiply(BASE8, ORDER - 1n)]) {
      expect((await run(edwardsX, { point: toMontgomery(candidate) }))("x")).to.equal(candidate.x);
      expect((await run(edwardsY, { point: toMontgomery(candidate) }))("y")).to.equal(candidate.y);
    }
    expect((await run(edwardsY, { point: [0, 0] }))("y")).to.equal(T2.y);
  });

  it("adds any two Edwards points: doubles, opposites, the identity, small orders", async () => {
    const [a, b] = [point(), point()];
    for (const [left, right] of [
      [a, b],
      [a, a],
      [a, negate(a)],
      [a, IDENTITY],
      [IDENTITY, IDENTITY],
      [a, T2],
      [T8, T8],
      [T8, negate(T8)],
      [add(a, T8), add(b, T4)],
    ] as const) {
      const read = await run(sumX, { a: [left.x, left.y], b: [right.x, right.y] });
      expect(read("x")).to.equal(add(left, right).x);
    }
  });

  it("computes the recipient's key as 8 Q for each of the eight points Q", async () => {
    const key = point();
    const eighth = multiply(key, curve.invert(8n));
    for (let i = 0n; i < 8n; i++) {
      const q = add(eighth, multiply(T8, i));
      const read = await run(recipientKey, { q: toMontgomery(q) });
      expect(list(read, "key", 2)).to.deep.equal(toMontgomery(key));
    }
  });

  it("computes the recipient's key for the viewing keys 1 and l - 1", async () => {
    for (const key of [BASE8, multiply(BASE8, ORDER - 1n)]) {
      const read = await run(recipientKey, { q: curve.montgomeryEighth(key) });
      expect(list(read, "key", 2)).to.deep.equal(toMontgomery(key));
    }
  });
});
