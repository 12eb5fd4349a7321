import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ErrorTable, SottoError } from "@sotto/protocol";
import { errorHandler, statusOf } from "@sotto/server";
import { expect } from "chai";
import { ROUTE_ERRORS } from "../../src/error-definitions.ts";
import { ServiceError } from "../../src/errors.ts";
import { translateError } from "../../src/http/app.ts";

const root = join(import.meta.dirname, "..", "..", "src");
const { toResponse } = errorHandler({ errors: ROUTE_ERRORS, translate: translateError });

describe("HTTP statuses of errors", () => {
  it("are stable", () => {
    const statuses = Object.entries(ROUTE_ERRORS as ErrorTable).flatMap(([code, { http }]) =>
      http === undefined ? [] : [[code, http]],
    );
    expect(Object.fromEntries(statuses)).to.deep.equal({
      BINDING_INVALID: 400,
      BINDING_SIGNATURE_INVALID: 400,
      DUPLICATE_KEY: 400,
      FORBIDDEN_KEY: 400,
      INVALID_ADDRESS: 400,
      INVALID_AMOUNT: 400,
      INVALID_BUNDLE: 400,
      INVALID_FIELD_ELEMENT: 400,
      INVALID_HEX: 400,
      INVALID_INTEGER: 400,
      INVALID_JSON: 400,
      INVALID_POINT: 400,
      INVALID_REQUEST: 400,
      INVALID_SHIELDED_ADDRESS: 400,
      INVALID_SIGNATURE: 400,
      INVALID_STRING: 400,
      NESTED_TOO_DEEPLY: 400,
      PROOF_AT_INFINITY: 400,
      PROOF_COORDINATE_RANGE: 400,
      PROOF_MALFORMED: 400,
      PROOF_NOT_IN_SUBGROUP: 400,
      PROOF_NOT_ON_CURVE: 400,
      SIGNALS_MALFORMED: 400,
      SIGNAL_RANGE: 400,
      X402_NETWORK_UNSUPPORTED: 400,
      X402_PAYLOAD_INVALID: 400,
      X402_REQUIREMENTS_INVALID: 400,
      X402_SCHEME_UNSUPPORTED: 400,
      X402_VERSION_UNSUPPORTED: 400,
      INVALID_TOKEN: 401,
      NOT_FOUND: 404,
      UNKNOWN_PAYMENT: 404,
      METHOD_NOT_ALLOWED: 405,
      REQUEST_TIMEOUT: 408,
      NULLIFIER_QUEUED: 409,
      NULLIFIER_SPENT: 409,
      PAYMENT_MISMATCH: 409,
      TOKEN_REPLACED: 409,
      TOKEN_EXPIRED: 410,
      BODY_TOO_LARGE: 413,
      UNSUPPORTED_MEDIA_TYPE: 415,
      RANGE_NOT_SATISFIABLE: 416,
      AMOUNT_TOO_SMALL: 422,
      AUTHORIZATION_MISMATCH: 422,
      BINDING_FROM_THE_FUTURE: 422,
      BINDING_STALE: 422,
      CONTEXT_MISMATCH: 422,
      EXPIRED: 422,
      FEE_TOO_SMALL: 422,
      INSUFFICIENT_TOKENS: 422,
      NOT_APPROVED: 422,
      INVALID_PROOF: 422,
      UNKNOWN_ROOT: 422,
      VALIDITY_TOO_LONG: 422,
      WRONG_DEPLOYMENT: 422,
      QUOTA_EXCEEDED: 429,
      RATE_LIMITED: 429,
      HEADERS_TOO_LARGE: 431,
      INTERNAL: 500,
      CHAIN_UNAVAILABLE: 503,
      ENGINE_CLOSED: 503,
      ENGINE_FAILED: 503,
      ENGINE_OVERLOADED: 503,
      FEES_TOO_HIGH: 503,
      GAS_BUDGET_EXHAUSTED: 503,
      HEAD_TOO_OLD: 503,
      OVERLOADED: 503,
      RELAYER_BALANCE_LOW: 503,
      RELAYER_STUCK: 503,
      SERVICE_CLOCK_WRONG: 503,
      SETTLEMENT_UNKNOWN: 503,
      SHUTTING_DOWN: 503,
      SIGNER_MISMATCH: 503,
      SIGNER_REFUSED: 503,
      SIGNER_UNAVAILABLE: 503,
      STORE_UNAVAILABLE: 503,
    });
  });

  it("are decided only in the definitions", () => {
    const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
    const literal = /(\.code|statusCode:|status:)\s*\(?\s*(4|5)\d\d\b/;
    const found = files.filter((name) => literal.test(readFileSync(join(root, name), "utf8")));
    expect(found).to.deep.equal([]);
  });

  it("reveal nothing about internal errors", () => {
    for (const error of [new Error("secret"), new SottoError("WHATEVER", "secret"), "secret", null, { code: "X" }]) {
      const { status, body } = toResponse(error);
      expect(status).to.equal(500);
      expect(body.code).to.equal("INTERNAL");
      expect(JSON.stringify(body)).to.not.include("secret");
    }
  });

  it("report an unavailable store from any error", () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED 10.0.0.9:5432"), { code: "ECONNREFUSED" });
    for (const error of [refused, new Error("query failed", { cause: refused }), new Error("database is not open")]) {
      const { status, body } = toResponse(error);
      expect([status, body.code]).to.deep.equal([503, "STORE_UNAVAILABLE"]);
      expect(body.message).to.not.include("10.0.0.9");
    }
  });

  it("explain what was wrong with a request", () => {
    const { status, body } = toResponse(new ServiceError("PAYMENT_MISMATCH", "proof is another"));
    expect(status).to.equal(409);
    expect(body).to.deep.equal({ error: "Conflict", message: "proof is another", code: "PAYMENT_MISMATCH" });
  });

  it("do not treat properties of Object as codes", () => {
    expect(statusOf(ROUTE_ERRORS, "toString")).to.equal(500);
    expect(statusOf(ROUTE_ERRORS, "__proto__")).to.equal(500);
  });
});
