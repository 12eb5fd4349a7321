import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { checkRefutation } from "../src/refute/replay.ts";
import { A, BASE8, multiply, toMontgomery } from "../src/replay/curve.ts";
import { divide, mod } from "../src/replay/field.ts";
import { compile } from "./compiled.ts";
import { HEAD, including } from "./ladder-circuits.ts";
import { digitsFor, orderSeven, rootOf, twoWitnesses } from "./two-witnesses.ts";

/** Whether two witnesses of a template agree on these inputs and differ in an output. */
async function areTwo(file: string, main: string, inputs: readonly bigint[]): Promise<void> {
  const { r1cs, plain } = await compile(`${HEAD} ${including(file)} component main = ${main};`);
  const witnesses = twoWitnesses(r1cs, plain?.sym ?? "", inputs);
  expect(checkRefutation(r1cs, "outputs", witnesses), main).to.equal(undefined);
}

/** The first window of EscalarMulFix, 1 to 8 times Base8, and digits that make it choose a point. */
function digits(target: readonly bigint[], last: bigint): bigint[] {
  const points = [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n].map((k) => toMontgomery(multiply(BASE8, k)));
  for (let s2 = last; ; s2++) {
    const found = digitsFor([points.map(([u]) => u), points.map(([, v]) => v)], target, s2);
    if (found !== undefined) return [...found, s2];
  }
}

describe("templates of circomlib that are free for inputs that their callers must exclude", function () {
  slow(this, "small circuits are compiled");

  it("EscalarMulFix and SegmentMulFix: digits that are no bits make two added points equal", async () => {
    // The first adder adds the first window's point to 2 * 8^n times Base8, for the number n of windows.
    const all = (windows: number, count: number) => {
      const found = digits(toMontgomery(multiply(BASE8, 2n * 8n ** BigInt(windows))), 2n);
      return [...found, ...new Array<bigint>(count - found.length).fill(0n)];
    };
    const { x, y } = BASE8;
    await areTwo("escalarmulfix", `EscalarMulFix(253, [${x}, ${y}])`, all(83, 253));
    await areTwo("escalarmulfix", "SegmentMulFix(82)", [...all(82, 246), x, y]);
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
