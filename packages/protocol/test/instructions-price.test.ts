import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { buildInstructions, parseInstructions } from "../src/index.ts";
import { instructions, options } from "./support/instructions.ts";

const CODE = "INSTRUCTIONS_INVALID";

describe("the price of payment instructions", () => {
  const read = (amount: unknown, amountBaseUnits: unknown, decimals: unknown = 6) => {
    const payment = { ...instructions.payment, amount, amountBaseUnits, decimals };
    return parseInstructions({ ...instructions, payment }).payment;
  };

  it("is accepted if both fields agree to the base unit", () => {
    const exact: [string, string, number][] = [
      ["0.1", "100000", 6],
      ["0.30", "300000", 6],
      ["1", "1000000", 6],
      ["1.0", "1000000", 6],
      ["1e0", "1000000", 6],
      ["100e-3", "100000", 6],
      ["0.000001", "1", 6],
      ["0.29", "290000", 6],
      ["1.1", "1100000", 6],
      ["900719925.474099", "900719925474099", 6],
      ["0.0000001", "1", 7],
      ["1e-18", "1", 18],
      ["1.5e-17", "15", 18],
      ["0.00000012345", "12345", 11],
      ["1e19", "10000000000000000000", 0],
      ["7", "7", 0],
      ["18.446744", "18446744000000000000", 18],
    ];
    for (const [json, units, decimals] of exact) {
      const amount = JSON.parse(json);
      expect(read(amount, units, decimals), json).to.include({ amount, amountBaseUnits: units, decimals });
      const made = buildInstructions({ ...options, price: BigInt(units), decimals }).payment;
      expect([made.amount, made.amountBaseUnits]).to.deep.equal([amount, units]);
    }
  });

  it("is rejected if the two fields differ at all", () => {
    const wrong: [unknown, unknown, unknown?][] = [
      [0.1, "100001"],
      [0.1, "99999"],
      [0.1, "1000000"],
      [0.1000001, "100000"],
      [0.1 + 0.2, "300000"],
      [0.30000000000000004, "300000"],
      [1e-7, "1"],
      [1e-7, "0"],
      [0, "0"],
      [-0, "0"],
      [-0.1, "100000"],
      [0.1, "-100000"],
      [0.1, "0100000"],
      [0.1, "1e5"],
      [0.1, "100000.0"],
      [0.1, " 100000"],
      [0.1, "0x186a0"],
      [0.1, 100000],
      ["0.1", "100000"],
      [JSON.parse("1e400"), "100000"],
      [Number.NaN, "100000"],
      [null, "100000"],
      [[0.1], "100000"],
      [true, "1000000"],
      [Number("18446744073709.551615"), "18446744073709551615"],
      [Number("18446744073709.552"), "18446744073709552001"],
      [1e300, "1"],
      [0.1, "100000", 5],
      [0.1, "100000", "6"],
      [0.1, "100000", 6.5],
      [0.1, "1".repeat(100)],
    ];
    for (const [amount, units, decimals] of wrong)
      expectCode(CODE, () => read(amount, units, decimals ?? 6), /amount|decimals/);
  });
});
