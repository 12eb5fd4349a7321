import { readFileSync } from "node:fs";
import { BASE8, multiply, toMontgomery } from "@sotto/certify/check/curve";
import { meetsOrder, multiplesOf, ORDER, type Proof, prove } from "@sotto/certify/internal";
import { type Edit, edit } from "@sotto/keys/source/sources";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { compile } from "../kit/compile.ts";
import { sources } from "../kit/gadget.ts";

const KEY = `pragma circom 2.2.0;
include "lib/recipient_key.circom";
include "lib/edwards.circom";
template Key() {
    signal input q[2];
    signal key[2] <== RecipientKey()(q);
    signal output x <== EdwardsX()(key);
    signal output y <== EdwardsY()(key);
}
component main = Key();`;

const product = (count: number) => `pragma circom 2.2.0;
include "lib/recipient_key.circom";
include "lib/signs.circom";
include "lib/variable_base.circom";
include "lib/edwards.circom";
template Product() {
    signal input q[2];
    signal input scalar;
    signal key[2] <== RecipientKey()(q);
    signal square <== key[1] * key[1];
    signal signs[${count}] <== Signs(${count})(scalar, key[1], square);
    signal point[2] <== VariableBase(${count})(key, signs);
    signal output x <== EdwardsX()(point);
}
component main = Product();`;

const AMOUNT = `pragma circom 2.2.0;
include "lib/range.circom";
include "lib/amount_point.circom";
template Amount() {
    signal input amount;
    signal bits[64] <== Bits(64)(amount);
    signal output point[2] <== AmountPoint()(bits);
}
component main = Amount();`;

async function freeWires(main: string, ...edits: Edit[]): Promise<number> {
  const build = await compile(edit(sources, edits), main, "plain", "constraints");
  const file = readFileSync(build.files.r1cs);
  const proof: Proof = prove(file, file);
  expect(proof.problems).to.deep.equal([]);
  return proof.free.length;
}

describe("lemmas of the certificate, each without a premise (control)", function () {
  slow(this, "small circuits are compiled");

  it("double, odd and minus_one: a key that is 8 times a point of the curve", async () => {
    expect(await freeWires(KEY)).to.equal(0);
  });

  it("double: needs the equation of the curve", async () => {
    const find = "point[1] * point[1] === cubic;";
    expect(await freeWires(KEY, { file: "lib/montgomery.circom", find, replace: "" })).to.be.above(0);
    const other = "point[1] * point[1] === cubic + 1;";
    expect(await freeWires(KEY, { file: "lib/montgomery.circom", find, replace: other })).to.be.above(0);
  });

  it("odd: needs a point of order l, so three doublings", async () => {
    const edits = { file: "lib/recipient_key.circom", find: "key <== MontgomeryDouble()(q4);", replace: "key <== q4;" };
    expect(await freeWires(KEY, edits)).to.be.above(0);
  });

  it("step: multiples of a key", async () => {
    expect(await freeWires(product(5))).to.equal(0);
  });

  it("step: needs signs that are v or -v", async () => {
    const find = "signs[i] * signs[i] === square;";
    expect(await freeWires(product(5), { file: "lib/signs.circom", find, replace: "" })).to.be.above(0);
    const other = "signs[i] * signs[i] === 4 * square;";
    expect(await freeWires(product(5), { file: "lib/signs.circom", find, replace: other })).to.be.above(0);
  });

  it("step: needs an interval below the order, which 250 signs exceed", async () => {
    expect(await freeWires(product(249))).to.equal(0);
    expect(await freeWires(product(250))).to.be.above(0);
  });

  it("step: needs a start other than the key", async () => {
    const edits = {
      file: "lib/variable_base.circom",
      find: "sums[0] <== MontgomeryDouble()(base);",
      replace: "sums[0] <== base;",
    };
    expect(await freeWires(product(5), edits)).to.be.above(0);
  });

  it("window and complete: the point of an amount", async () => {
    expect(await freeWires(AMOUNT)).to.equal(0);
  });

  it("window: needs a start above all windows", async () => {
    // The start -1/2 Base8 + bit Base8, whose sums with the windows can be 0.
    const file = "lib/amount_point.circom";
    const [low, high] = [ORDER - (ORDER + 1n) / 2n, (ORDER + 1n) / 2n].map((k) => toMontgomery(multiply(BASE8, k)));
    const start = `[[${low}], [${high}]]`;
    expect(await freeWires(AMOUNT, { file, find: "AMOUNT_START()", replace: start })).to.be.above(0);
  });

  it("window: needs bits", async () => {
    const loose = AMOUNT.replace("signal input amount;", "signal input bits[64];").replace(/ *signal bits.*\n/, "");
    expect(await freeWires(loose)).to.be.above(0);
  });

  it("window: needs points that are sums of plus or minus 2^i Base8", async () => {
    const edits = {
      file: "lib/fixed_base.circom",
      find: "table[k][10] * square",
      replace: "(table[k][10] + 1) * square",
    };
    expect(await freeWires(AMOUNT, edits)).to.be.above(0);
  });

  it("complete: needs a constant point on the curve", async () => {
    const edits = { file: "lib/amount_point.circom", find: "MINUS_HALF_BASE8()", replace: "[2, 3]" };
    expect(await freeWires(AMOUNT, edits)).to.be.above(0);
  });

  it("finds multiples of the order at the ends of an interval", () => {
    expect(meetsOrder(1n, ORDER - 1n)).to.equal(false);
    expect(meetsOrder(0n, 1n)).to.equal(true);
    expect(meetsOrder(1n, ORDER)).to.equal(true);
    expect(meetsOrder(-1n, 1n)).to.equal(true);
    expect(meetsOrder(-ORDER + 1n, -1n)).to.equal(false);
    expect(meetsOrder(ORDER + 1n, 2n * ORDER - 1n)).to.equal(false);
  });

  it("refuses a point whose negative is meant, and a point off the curve", () => {
    const [u, v] = toMontgomery(multiply(BASE8, 8n));
    expect(multiplesOf([[u, v]])?.centre).to.equal(16n);
    expect(multiplesOf([[u, -v]])?.centre).to.equal(-16n);
    expect(multiplesOf([[u, v + 1n]])).to.equal(undefined);
    expect(multiplesOf([toMontgomery(multiply(BASE8, 11n))]), "no power of two").to.equal(undefined);
  });
});
