import { PROTOCOL_ERRORS, SottoError } from "@sotto/protocol";
import { expect } from "chai";
import * as prepaid from "../../../src/index.ts";
import { RULE, termsOf, VECTORS } from "./support/samples.ts";

/** Values that a caller without types, parsed JSON or a forgotten argument could pass. */
const junk: readonly unknown[] = [
  ...[undefined, null, true, 5, -1, 0.5, Number.NaN, 5n, -5n, 1n << 300n, "", "x", "0x", () => 1],
  ...[{}, [], [undefined], [null], new Uint8Array(3), { amount: 1n }, new Date(0), Object.create(null)],
];
/** Valid values, so that the junk beside them is reached. */
const valid: readonly unknown[] = [
  RULE,
  termsOf([VECTORS.receipt.receiptKey]),
  new Uint8Array(32),
  [],
  [1n],
  { input: 1 },
];
const functions = Object.entries(prepaid).filter(
  ([name, value]) =>
    typeof value === "function" &&
    /metered|terms|receipt|claim|swap|charge|change|unit|contra|token(?:Id|Secret)/i.test(name),
);

describe("every exported function of metered credit with invalid arguments", () => {
  for (const [name, value] of functions)
    it(`${name} succeeds or throws a coded error`, async () => {
      const act = value as (...args: unknown[]) => unknown;
      for (const first of [...junk, ...valid])
        for (const rest of [...junk, ...valid])
          try {
            await act(first, rest, rest);
          } catch (error) {
            expect(error, String((error as Error).stack)).to.be.instanceOf(SottoError);
            expect(PROTOCOL_ERRORS).to.have.property((error as SottoError).code);
          }
    });

  it("covers all of them", () => {
    expect(functions.length).to.be.greaterThan(30);
  });
});
