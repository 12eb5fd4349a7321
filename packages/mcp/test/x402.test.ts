// Where a client looks for x402's PaymentRequired, and what a payment for a tool is bound to.
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { canonicalJson, isCallOf, isToolName, targetOf } from "../src/paid/resource.ts";
import { paymentRequiredOf } from "../src/paid/x402.ts";

const required = { x402Version: 2, error: "Payment required", resource: { url: "mcp://tool/a" }, accepts: [] };
const failed = (text: unknown, structuredContent?: Record<string, unknown>): CallToolResult => ({
  isError: true,
  content: [{ type: "text", text: typeof text === "string" ? text : JSON.stringify(text) }],
  ...(structuredContent === undefined ? {} : { structuredContent }),
});
const wrapped = { "x402/error": { code: 402, message: "Payment required", data: required } };

describe("x402 over MCP", () => {
  it("finds a PaymentRequired in structured content or in the first text, direct or wrapped", () => {
    for (const result of [failed("", required), failed("", wrapped), failed(required), failed(wrapped)])
      expect(paymentRequiredOf(result)).to.deep.equal(required);
  });

  it("prefers structured content", () => {
    expect(paymentRequiredOf(failed({ ...required, error: "other" }, required))).to.deep.equal(required);
  });

  it("finds none in results that are not errors, or whose text is something else", () => {
    expect(paymentRequiredOf({ ...failed(required), isError: false })).to.equal(undefined);
    for (const text of ["", "{", "null", "[]", '"text"', { x402Version: "2", accepts: [] }, { "x402/error": null }])
      expect(paymentRequiredOf(failed(text)), JSON.stringify(text)).to.equal(undefined);
    expect(paymentRequiredOf(failed(`${JSON.stringify(required)}${" ".repeat(70_000)}`))).to.equal(undefined);
  });

  it("names a call by server, tool and arguments", () => {
    const target = targetOf("forecast", { city: "Oslo", days: 1 });
    expect(targetOf("forecast", { days: 1, city: "Oslo" })).to.equal(target);
    expect(isCallOf(`https://a.example${target}`, "https://a.example", "forecast")).to.equal(true);
    for (const resource of [
      `https://b.example${target}`,
      `https://a.example${target}0`,
      `https://a.example${target}&x=1`,
      `https://a.example${targetOf("forecasts", {})}`,
    ])
      expect(isCallOf(resource, "https://a.example", "forecast"), resource).to.equal(false);
  });

  it("serializes equal arguments identically, and different ones differently", () => {
    expect(canonicalJson({ b: [{ d: 1, c: 2n }], a: undefined })).to.equal('{"b":[{"c":"2","d":1}]}');
    expect(canonicalJson([1, 2])).to.not.equal(canonicalJson([2, 1]));
    expect(canonicalJson({ at: new Date(0) })).to.equal('{"at":"1970-01-01T00:00:00.000Z"}');
    for (const value of [new Map([[1, 2]]), { inner: new Set([1]) }])
      expectCode("MCP_OPTION_INVALID", () => canonicalJson(value));
  });

  it("accepts only names that a URL leaves unchanged", () => {
    expect(["a", "A-1_b.c", "x".repeat(128)].every(isToolName)).to.equal(true);
    expect(["", ".", "..", "a b", "a/b", "é", "x".repeat(129)].some(isToolName)).to.equal(false);
  });
});
