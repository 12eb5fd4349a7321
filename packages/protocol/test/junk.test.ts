import { expect } from "chai";
import * as sotto from "../src/index.ts";
import { PROTOCOL_ERRORS, SottoError } from "../src/index.ts";

/** Values that a caller without types, parsed JSON or a forgotten argument could pass. */
const junk: readonly unknown[] = [
  ...[undefined, null, true, 5, -1, 0.5, Number.NaN, 5n, -5n, 1n << 300n, "", "x", "0x", () => 1],
  ...[{}, [], [undefined], [null], new Uint8Array(3), { amount: 1n }, new Date(0)],
];

/** Functions whose second argument is always a constant in the caller's source. */
const fixedSecond: Record<string, unknown> = { assertUint: 64, hexToBytes: 4, quoted: 200, foreign: 200 };
const functions = Object.entries(sotto).filter(([name, value]) => typeof value === "function" && /^[a-z]/.test(name));

describe("every exported function with invalid arguments", () => {
  for (const [name, value] of functions) {
    it(`${name} succeeds or throws a coded error`, async () => {
      const act = value as (...args: unknown[]) => unknown;
      for (const first of junk) {
        for (const rest of name in fixedSecond ? [fixedSecond[name]] : junk) {
          try {
            await act(first, rest, rest, rest);
          } catch (error) {
            expect(error, String((error as Error).stack)).to.be.instanceOf(SottoError);
            expect(PROTOCOL_ERRORS).to.have.property((error as SottoError).code);
          }
        }
      }
    });
  }

  it("covers more than a handful of functions", () => {
    expect(functions.length).to.be.greaterThan(50);
  });
});
