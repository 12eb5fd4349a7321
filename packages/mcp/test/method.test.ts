// The headers of payment methods in `_meta` of a call.
import { expect } from "chai";
import { parseHeaders } from "../src/paid/method.ts";

const NAMES = new Set(["x-payment-token", "x-payment-rule"]);
const parsed = (value: unknown) => {
  const headers = parseHeaders(value, NAMES);
  return headers && Object.fromEntries(headers);
};

describe("headers of payment methods in a call", () => {
  it("have the names of the methods in any case, and values of printable ASCII", () => {
    expect(parsed({ "X-Payment-Token": "a token", "x-payment-rule": "0x00" })).to.deep.equal({
      "x-payment-token": "a token",
      "x-payment-rule": "0x00",
    });
    for (const value of [7, null, "", " a", "a\nb", "ä", "x".repeat(8_193)])
      expect(parsed({ "x-payment-token": value }), JSON.stringify(value)).to.equal(undefined);
    for (const value of [undefined, null, 7, "token", [], ["x-payment-token"]])
      expect(parsed(value), JSON.stringify(value)).to.equal(undefined);
  });

  it("are refused if one is given twice", () => {
    expect(parsed({ "X-Payment-Token": "a", "x-payment-token": "a" })).to.equal(undefined);
  });

  it("exclude other names, in any number and with any value", () => {
    const others = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`x-${i}`, i]));
    const named = { ...others, "": "x", "a name": null, constructor: "x", "x-payment-token": "a" };
    expect(parsed(named)).to.deep.equal({ "x-payment-token": "a" });
  });
});
