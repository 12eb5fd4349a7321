import { P } from "@sotto/certify/check/field";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { compile } from "../kit/compile.ts";
import { violations } from "../kit/evaluate.ts";
import { gadget, list, run, sources } from "../kit/gadget.ts";
import { bitsOf } from "../model/tree.ts";

const EDGES_OF_64 = [0n, 1n, 2n, 2n ** 32n, 2n ** 63n, 2n ** 64n - 2n, 2n ** 64n - 1n];
/** Values that are not 64-bit integers. */
const OUTSIDE = [2n ** 64n, 2n ** 64n + 1n, 2n ** 128n, (P - 1n) / 2n, P - 2n ** 64n, P - 1n];

describe("ranges", function () {
  slow(this, "circuits are compiled, and witnesses made");
  it("decomposes every edge value of 64 bits", async () => {
    for (const value of EDGES_OF_64) {
      expect(list(await run(gadget("lib/range.circom", "Bits(64)"), { value }), "bits", 64)).to.deep.equal(
        bitsOf(value, 64),
      );
      await run(gadget("lib/range.circom", "Range(64)"), { value });
    }
  });

  it("decomposes 249 bits and 30 bits", async () => {
    for (const n of [30, 249])
      for (const value of [0n, 1n, 2n ** BigInt(n) - 1n]) {
        const read = await run(gadget("lib/range.circom", `Bits(${n})`), { value });
        expect(list(read, "bits", n)).to.deep.equal(bitsOf(value, n));
      }
  });

  it("rejects a value outside the range for every choice of bits", async () => {
    const build = await compile(sources, gadget("lib/range.circom", "Range(64)"), "full");
    const honest = await build.witness({ value: 5n });
    expect(violations(build.r1cs, honest)).to.deep.equal([]);
    // Wire 1 is the value; the other wires are its bits. Every 0/1 assignment sums to less than 2^64, so this tries the
    // closest ones: the low bits, and a sum that is corrected with a wire that is not a bit.
    for (const value of OUTSIDE) {
      const low = honest.map((_, wire) => (wire < 2 ? value : (value >> BigInt(wire - 2)) & 1n)).with(0, 1n);
      expect(violations(build.r1cs, low), `${value} by its low bits`).not.to.deep.equal([]);
    }
  });
});
