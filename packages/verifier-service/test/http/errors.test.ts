import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SottoError } from "@sotto/protocol";
import { errorAnswers } from "@sotto/server";
import { expect } from "chai";
import { ServiceError } from "../../src/errors.ts";
import { translateError } from "../../src/http/app.ts";
import { STATUS, statusOf } from "../../src/http/status.ts";

const root = join(import.meta.dirname, "..", "..", "src");
const { toAnswer } = errorAnswers({ statuses: STATUS, translate: translateError });

describe("errors and their status", () => {
  it("gives every code of the table a 4xx or 5xx", () => {
    for (const [code, status] of Object.entries(STATUS)) {
      expect(code).to.match(/^[A-Z][A-Z0-9_]+$/);
      expect(status, code).to.be.within(400, 503);
    }
  });

  it("has a status for every code of the service that a request can meet", () => {
    const [requests = ""] = readFileSync(join(root, "errors", "errors.ts"), "utf8").split("// Starting");
    const codes = [...requests.matchAll(/\| "([A-Z_]+)"/g)].map((match) => match[1]!);
    expect(codes).to.include.members(["PAYMENT_MISMATCH", "QUOTA_EXCEEDED"]);
    expect(codes.filter((code) => STATUS[code] === undefined)).to.deep.equal([]);
  });

  it("decides statuses nowhere but in the table", () => {
    const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
    const literal = /(\.code|statusCode:|status:)\s*\(?\s*(4|5)\d\d\b/;
    const found = files.filter((name) => literal.test(readFileSync(join(root, name), "utf8")));
    expect(found).to.deep.equal([]);
  });

  it("tells nothing of an error that is the service's fault", () => {
    for (const error of [new Error("secret"), new SottoError("WHATEVER", "secret"), "secret", null, { code: "X" }]) {
      const { status, answer } = toAnswer(error);
      expect(status).to.equal(500);
      expect(answer.code).to.equal("INTERNAL");
      expect(JSON.stringify(answer)).to.not.include("secret");
    }
  });

  it("tells that the store is away, whoever's error says so", () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED 10.0.0.9:5432"), { code: "ECONNREFUSED" });
    for (const error of [refused, new Error("query failed", { cause: refused }), new Error("database is not open")]) {
      const { status, answer } = toAnswer(error);
      expect([status, answer.code]).to.deep.equal([503, "STORE_UNAVAILABLE"]);
      expect(answer.message).to.not.include("10.0.0.9");
    }
  });

  it("tells what was wrong with a request", () => {
    const { status, answer } = toAnswer(new ServiceError("PAYMENT_MISMATCH", "proof is another"));
    expect(status).to.equal(409);
    expect(answer).to.deep.equal({ error: "Conflict", message: "proof is another", code: "PAYMENT_MISMATCH" });
  });

  it("does not take a property of objects for a code", () => {
    expect(statusOf("toString")).to.equal(500);
    expect(statusOf("__proto__")).to.equal(500);
  });
});
