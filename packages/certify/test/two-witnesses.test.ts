import { HEAD, including } from "@sotto/test-kit/ladder-circuits";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { checkRefutation } from "../src/refute/replay.ts";
import { A, BASE8, multiply, ORDER, type Point, toMontgomery } from "../src/replay/curve.ts";
import { divide, mod } from "../src/replay/field.ts";
import { compile } from "./compiled.ts";
import { digitsFor, orderSeven, rootOf, twoWitnesses } from "./two-witnesses.ts";

/** The first base of circomlib's Pedersen. */
const PEDERSEN: Point = {
  x: 10457101036533406547632367118273992217979173478358440826365724437999023779287n,
  y: 19824078218392094440610104313265183977899662750282163392862422243483260492317n,
};

/** Asserts that two witnesses of a template agree on these inputs and differ in an output. */
async function areTwo(file: string, main: string, inputs: readonly bigint[]): Promise<void> {
  const { r1cs, plain } = await compile(`${HEAD} ${including(file)} component main = ${main};`);
  const witnesses = twoWitnesses(r1cs, plain?.sym ?? "", inputs);
  expect(checkRefutation(r1cs, "outputs", witnesses), main).to.equal(undefined);
}

/** Digits that make a window choose a point: it has 1 to 8 times the base. */
function digits(base: Point, target: Point, last: bigint): bigint[] {
  const points = [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n].map((k) => toMontgomery(multiply(base, k)));
  for (let s2 = last; ; s2++) {
    const found = digitsFor([points.map(([u]) => u), points.map(([, v]) => v)], toMontgomery(target), s2);
    if (found !== undefined) return [...found, s2];
  }
}

describe("templates of circomlib that are free for inputs that their callers must exclude", function () {
  slow(this, "small circuits are compiled");

  it("EscalarMulFix and SegmentMulFix: digits that are no bits make two added points equal", async () => {
    // The first adder adds the first window's point to 2 * 8^n times Base8, for the number n of windows.
    const all = (windows: number, count: number) => {
      const found = digits(BASE8, multiply(BASE8, 2n * 8n ** BigInt(windows)), 2n);
      return [...found, ...new Array<bigint>(count - found.length).fill(0n)];
    };
    const { x, y } = BASE8;
    await areTwo("escalarmulfix", `EscalarMulFix(253, [${x}, ${y}])`, all(83, 253));
    await areTwo("escalarmulfix", "SegmentMulFix(82)", [...all(82, 246), x, y]);
  });

  it("EscalarMulFix: some scalars below the order have no witness, because two added points are opposite", async () => {
    // The last window of the first segment has 8^83 times Base8, and the sum before it ORDER - 8^83 times.
    const [last, ones] = [8n ** 82n, (8n ** 82n - 1n) / 7n];
    const scalar = ORDER - 3n * 8n ** 83n - ones + 7n * last;
    const bits = (k: bigint) => Array.from({ length: 253 }, (_, i) => (k >> BigInt(i)) & 1n);
    const { x, y } = BASE8;
    const main = `EscalarMulFix(253, [${x}, ${y}])`;
    const { r1cs, plain } = await compile(`${HEAD} ${including("escalarmulfix")} component main = ${main};`);
    expect(scalar > 0n && scalar < ORDER).to.equal(true);
    expect(() => twoWitnesses(r1cs, plain?.sym ?? "", bits(scalar))).to.throw("no value satisfies a constraint");
    const [first, second] = twoWitnesses(r1cs, plain?.sym ?? "", bits(scalar + 1n));
    expect(first, "the next scalar (control)").to.deep.equal(second);
  });

  it("Pedersen: digits that are no bits make two added points equal", async () => {
    // The second window chooses 32 times the base.
    const found = digits(PEDERSEN, multiply(PEDERSEN, 32n), 2n);
    await areTwo("pedersen", "Pedersen(256)", [...found, ...new Array<bigint>(253).fill(0n)]);
  });

  it("EscalarMulAny and SegmentMulAny: a point of order 7 of another curve, for bits", async () => {
    const [u, v] = orderSeven(A);
    // 8 P = P is added to P. Only the bit at place 3 is 1.
    const p = [divide(u, v), divide(u - 1n, u + 1n)];
    for (const [template, bits] of [
      ["EscalarMulAny", 254],
      ["SegmentMulAny", 148],
    ] as const)
      await areTwo("escalarmulany", `${template}(${bits})`, [
        ...Array.from({ length: bits }, (_, i) => (i === 3 ? 1n : 0n)),
        ...p,
      ]);
  });

  it("WindowMulFix, Window4 and BitElementMulAny: a singular point of another curve has every tangent", async () => {
    const u = divide(rootOf(A * A - 3n) - A, 3n);
    expect(mod(3n * u * u + 2n * A * u + 1n)).to.equal(0n);
    await areTwo("escalarmulfix", "WindowMulFix()", [1n, 0n, 0n, u, 0n]);
    await areTwo("pedersen", "Window4()", [1n, 0n, 0n, 0n, u, 0n]);
    await areTwo("escalarmulany", "BitElementMulAny()", [0n, u, 0n, 1n, 1n]);
  });
});
