import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import fc from "fast-check";
import { describe as describeValue } from "../src/errors.ts";
import { invertField, powField, sqrtField } from "../src/field.ts";
import { bigIntToBytes } from "../src/hex.ts";
import {
  assertAmount,
  assertField,
  assertUint,
  BASE_FIELD_MODULUS,
  bytesToHex,
  FIELD_MODULUS,
  hexToBytes,
  MAX_AMOUNT,
  parseAmount,
  parseBaseField,
  parseField,
  randomField,
  SottoError,
  toField,
} from "../src/index.ts";
import { field, runs } from "./support/arbitraries.ts";

describe("field arithmetic", () => {
  it("inverts every element except 0", () => {
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

  it("computes square roots of squares only", () => {
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

describe("values from the wire", () => {
  it("are accepted if canonical", () => {
    expect(parseField((FIELD_MODULUS - 1n).toString())).to.equal(FIELD_MODULUS - 1n);
    expect(parseBaseField((BASE_FIELD_MODULUS - 1n).toString())).to.equal(BASE_FIELD_MODULUS - 1n);
    expect(parseAmount(MAX_AMOUNT.toString())).to.equal(MAX_AMOUNT);
    expect(parseField("0")).to.equal(0n);
  });

  it("are rejected in any other spelling", () => {
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
    expect(assertUint(255n, 8)).to.equal(255n);
    expectCode("INVALID_INTEGER", () => assertUint(256n, 8), /2\^8/);
    expectCode("INVALID_INTEGER", () => assertUint(-1n, 8), /negative/);
    expectCode("INVALID_FIELD_ELEMENT", () => assertField(FIELD_MODULUS));
    expectCode("INVALID_AMOUNT", () => assertAmount(1 as never));
  });

  it("survive a round trip through lower-case hex", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
        expect(hexToBytes(bytesToHex(bytes), bytes.length)).to.deep.equal(bytes);
      }),
      runs(50),
    );
    expect(bytesToHex(bigIntToBytes(255n, 2))).to.equal("0x00ff");
    for (const value of [256n, -1n]) expectCode("INVALID_INTEGER", () => bigIntToBytes(value, 1));
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
  });
});
