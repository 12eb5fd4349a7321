import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import fc from "fast-check";
import { amountBounds, formatDecimalAmount, MAX_AMOUNT, parseDecimalAmount } from "../src/index.ts";
import { amount, runs } from "./support/arbitraries.ts";

describe("decimal amounts", () => {
  it("are parsed exactly", () => {
    expect(parseDecimalAmount("1.25", 6)).to.equal(1_250_000n);
    expect(parseDecimalAmount("0.000001", 6)).to.equal(1n);
    expect(parseDecimalAmount("0.1", 18)).to.equal(10n ** 17n);
    expect(parseDecimalAmount("18446744073709.551615", 6)).to.equal(MAX_AMOUNT);
    expect(parseDecimalAmount("1.2500000000", 6)).to.equal(1_250_000n);
    expect(parseDecimalAmount("007", 0)).to.equal(7n);
  });

  it("survive a round trip", () => {
    fc.assert(
      fc.property(amount, fc.nat({ max: 25 }), (value, decimals) => {
        expect(parseDecimalAmount(formatDecimalAmount(value, decimals), decimals)).to.equal(value);
      }),
      runs(100),
    );
    expect(formatDecimalAmount(1_250_000n, 6)).to.equal("1.25");
    expect(formatDecimalAmount(0n, 6)).to.equal("0");
    expect(formatDecimalAmount(5n, 0)).to.equal("5");
    // The balance of several notes of a token with 18 decimals.
    expect(formatDecimalAmount(2n * MAX_AMOUNT, 18)).to.equal("36.89348814741910323");
    expect(formatDecimalAmount(2n ** 256n - 1n, 77)).to.match(/^1\.15/);
  });

  it("have exact bounds: the price, and the price plus ten percent", () => {
    expect(amountBounds(10n)).to.deep.equal({ lowerBound: 10n, upperBound: 11n });
    expect(amountBounds(19n)).to.deep.equal({ lowerBound: 19n, upperBound: 20n });
    expect(amountBounds(0n)).to.deep.equal({ lowerBound: 0n, upperBound: 0n });
    expect(amountBounds(MAX_AMOUNT)).to.deep.equal({ lowerBound: MAX_AMOUNT, upperBound: MAX_AMOUNT });
    expect(amountBounds(1_250_000n).upperBound).to.equal(1_375_000n);
    expectCode("INVALID_AMOUNT", () => amountBounds(-1n), /price/);
  });

  it("are rejected if negative, malformed, too large or with more decimals than the token", () => {
    for (const text of [
      "",
      "-1",
      "+1",
      "1e3",
      "1.",
      ".5",
      "1,5",
      " 1",
      "1 ",
      "0x1",
      "NaN",
      "1.2.3",
      "\u0661",
      "9".repeat(200),
    ]) {
      expectCode("INVALID_AMOUNT", () => parseDecimalAmount(text, 6));
    }
    expectCode("INVALID_AMOUNT", () => parseDecimalAmount(1.5 as never, 6), /a number/);
    expectCode("INVALID_AMOUNT", () => parseDecimalAmount("0.0000001", 6), /7 decimals, but the token has 6/);
    expectCode("INVALID_AMOUNT", () => parseDecimalAmount("18446744073709.551616", 6), /larger/);
    for (const decimals of [-1, 78, 1.5, "6"]) {
      expectCode("INVALID_INTEGER", () => parseDecimalAmount("1", decimals as never));
      expectCode("INVALID_INTEGER", () => formatDecimalAmount(1n, decimals as never));
    }
    expectCode("INVALID_AMOUNT", () => formatDecimalAmount(-1n, 6));
    expectCode("INVALID_AMOUNT", () => formatDecimalAmount(2n ** 256n, 6));
    expectCode("INVALID_AMOUNT", () => formatDecimalAmount(1 as never, 6));
  });
});
