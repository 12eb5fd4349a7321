import { expect } from "chai";
import fc from "fast-check";
import { describe as describeValue } from "../src/errors.ts";
import { invertField, powField, sqrtField } from "../src/field.ts";
import {
  amountBounds,
  BASE_FIELD_MODULUS,
  bytesToHex,
  expectAmount,
  expectField,
  expectUint,
  FIELD_MODULUS,
  formatDecimalAmount,
  hexToBytes,
  MAX_AMOUNT,
  PROTOCOL_ERROR_CODES,
  parseAmount,
  parseBaseField,
  parseDecimalAmount,
  parseField,
  randomField,
  SottoError,
  toField,
} from "../src/index.ts";
import { amount, field, runs } from "./support/arbitraries.ts";
import { expectCode } from "./support/expect-code.ts";

describe("field arithmetic", () => {
  it("inverts, and has no inverse of 0", () => {
    fc.assert(
      fc.property(
        field.filter((value) => value !== 0n),
        (value) => {
          expect(toField(value * invertField(value))).to.equal(1n);
        },
      ),
      runs(100),
    );
    expectCode("INVALID_FIELD_ELEMENT", () => invertField(0n));
    expectCode("INVALID_FIELD_ELEMENT", () => invertField(FIELD_MODULUS));
  });

  it("takes roots of squares, and of nothing else", () => {
    fc.assert(
      fc.property(field, (value) => {
        const root = sqrtField(toField(value * value))!;
        expect(root === value || root === toField(-value)).to.equal(true);
        // Euler's criterion, and 5 is a non-residue.
        const isSquare = value === 0n || powField(value, (FIELD_MODULUS - 1n) / 2n) === 1n;
        expect(sqrtField(value) !== null).to.equal(isSquare);
        if (value !== 0n) expect(sqrtField(toField(5n * value * value))).to.equal(null);
      }),
      runs(50),
    );
  });

  it("reduces negative numbers to [0, p), and draws random elements from it", () => {
    expect(toField(-1n)).to.equal(FIELD_MODULUS - 1n);
    expect(toField(-FIELD_MODULUS)).to.equal(0n);
    const drawn = Array.from({ length: 50 }, randomField);
    expect(drawn.every((value) => value >= 0n && value < FIELD_MODULUS)).to.equal(true);
    expect(new Set(drawn).size).to.equal(50);
  });
});

describe("decimal amounts", () => {
  it("are read exactly", () => {
    expect(parseDecimalAmount("1.25", 6)).to.equal(1_250_000n);
    expect(parseDecimalAmount("0.000001", 6)).to.equal(1n);
    expect(parseDecimalAmount("0.1", 18)).to.equal(10n ** 17n);
    expect(parseDecimalAmount("18446744073709.551615", 6)).to.equal(MAX_AMOUNT);
    expect(parseDecimalAmount("1.2500000000", 6)).to.equal(1_250_000n);
    expect(parseDecimalAmount("007", 0)).to.equal(7n);
  });

  it("are written so that they read back", () => {
    fc.assert(
      fc.property(amount, fc.nat({ max: 25 }), (value, decimals) => {
        expect(parseDecimalAmount(formatDecimalAmount(value, decimals), decimals)).to.equal(value);
      }),
      runs(100),
    );
    expect(formatDecimalAmount(1_250_000n, 6)).to.equal("1.25");
    expect(formatDecimalAmount(0n, 6)).to.equal("0");
    expect(formatDecimalAmount(5n, 0)).to.equal("5");
  });

  it("have bounds of the price and a tenth more, exactly", () => {
    expect(amountBounds(10n)).to.deep.equal({ lowerBound: 10n, upperBound: 11n });
    expect(amountBounds(19n)).to.deep.equal({ lowerBound: 19n, upperBound: 20n });
    expect(amountBounds(0n)).to.deep.equal({ lowerBound: 0n, upperBound: 0n });
    expect(amountBounds(MAX_AMOUNT)).to.deep.equal({ lowerBound: MAX_AMOUNT, upperBound: MAX_AMOUNT });
    expect(amountBounds(1_250_000n).upperBound).to.equal(1_375_000n);
    expectCode("INVALID_AMOUNT", () => amountBounds(-1n), /price/);
  });

  it("are refused when negative, malformed, finer than the token or too large", () => {
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
    expectCode("INVALID_AMOUNT", () => parseDecimalAmount("0.0000001", 6), /7 decimals, the token has 6/);
    expectCode("INVALID_AMOUNT", () => parseDecimalAmount("18446744073709.551616", 6), /larger/);
    for (const decimals of [-1, 78, 1.5, "6"]) {
      expectCode("INVALID_INTEGER", () => parseDecimalAmount("1", decimals as never));
      expectCode("INVALID_INTEGER", () => formatDecimalAmount(1n, decimals as never));
    }
    expectCode("INVALID_AMOUNT", () => formatDecimalAmount(-1n, 6));
    expectCode("INVALID_AMOUNT", () => formatDecimalAmount(MAX_AMOUNT + 1n, 6));
  });
});

describe("values from the wire", () => {
  it("are read when canonical", () => {
    expect(parseField((FIELD_MODULUS - 1n).toString())).to.equal(FIELD_MODULUS - 1n);
    expect(parseBaseField((BASE_FIELD_MODULUS - 1n).toString())).to.equal(BASE_FIELD_MODULUS - 1n);
    expect(parseAmount(MAX_AMOUNT.toString())).to.equal(MAX_AMOUNT);
    expect(parseField("0")).to.equal(0n);
  });

  it("are refused in any other spelling", () => {
    for (const text of [
      "",
      "00",
      "01",
      "-0",
      "-1",
      "+1",
      "1.0",
      "1e2",
      "0x1",
      " 1",
      "1\n",
      "1".repeat(78),
      1,
      1n,
      null,
      ["1"],
    ]) {
      expectCode("INVALID_FIELD_ELEMENT", () => parseField(text));
      expectCode("INVALID_FIELD_ELEMENT", () => parseBaseField(text));
      expectCode("INVALID_AMOUNT", () => parseAmount(text));
    }
    expectCode("INVALID_FIELD_ELEMENT", () => parseField(FIELD_MODULUS.toString(), "root"), /^root must/);
    expectCode("INVALID_FIELD_ELEMENT", () => parseBaseField(BASE_FIELD_MODULUS.toString()));
    expectCode("INVALID_AMOUNT", () => parseAmount((MAX_AMOUNT + 1n).toString()));
  });

  it("are checked as bigints too", () => {
    expect(expectUint(255n, 8)).to.equal(255n);
    expectCode("INVALID_INTEGER", () => expectUint(256n, 8), /2\^8/);
    expectCode("INVALID_INTEGER", () => expectUint(-1n, 8), /negative/);
    expectCode("INVALID_FIELD_ELEMENT", () => expectField(FIELD_MODULUS));
    expectCode("INVALID_AMOUNT", () => expectAmount(1 as never));
  });

  it("survive hex both ways, in lower case only", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
        expect(hexToBytes(bytesToHex(bytes), bytes.length)).to.deep.equal(bytes);
      }),
      runs(50),
    );
    for (const bad of ["", "0x", "0x1", "0x0g", "0xAB", "ab", "0xabc", 5, null]) {
      expectCode("INVALID_HEX", () => hexToBytes(bad, 1));
    }
  });
});

describe("errors", () => {
  it("have a code, a name and details", () => {
    const error = new SottoError("INVALID_AMOUNT", "what was wrong", { field: "amount" }, { cause: 1 });
    expect(error).to.be.instanceOf(Error);
    expect([error.name, error.code, error.details["field"], error.cause]).to.deep.equal([
      "SottoError",
      "INVALID_AMOUNT",
      "amount",
      1,
    ]);
    const values = [null, [1, 2], new Uint8Array(3), "abcd", undefined, 5, 5n, {}];
    expect(values.map(describeValue)).to.deep.equal([
      ...["null", "an array of 2", "3 bytes", "a string of 4 characters"],
      ...["nothing", "a number", "a bigint", "an object"],
    ]);
    expect(new Set(PROTOCOL_ERROR_CODES).size).to.equal(PROTOCOL_ERROR_CODES.length);
  });
});
