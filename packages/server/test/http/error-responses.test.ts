import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ErrorDetails, type ErrorTable, SottoError } from "@sotto/protocol";
import { expect } from "chai";
import { SERVER_ERRORS } from "../../src/error-definitions.ts";
import { ServerError } from "../../src/errors.ts";
import { errorHandler, errorResponses, statusOf } from "../../src/http/error-responses.ts";

const root = join(import.meta.dirname, "..", "..", "src");

describe("error responses", () => {
  const { toResponse } = errorHandler({
    errors: { ...SERVER_ERRORS, TEA: { means: "There is no coffee.", cause: "It is a teapot.", http: 418 } },
    translate: (error) => (error === "store unavailable" ? new SottoError("OVERLOADED", "later") : undefined),
  });

  it("have stable HTTP statuses", () => {
    const statuses = Object.entries(SERVER_ERRORS as ErrorTable).flatMap(([code, { http }]) =>
      http === undefined ? [] : [[code, http]],
    );
    expect(Object.fromEntries(statuses)).to.deep.equal({
      INVALID_REQUEST: 400,
      INVALID_JSON: 400,
      DUPLICATE_KEY: 400,
      FORBIDDEN_KEY: 400,
      NESTED_TOO_DEEPLY: 400,
      BODY_TOO_LARGE: 413,
      UNSUPPORTED_MEDIA_TYPE: 415,
      HEADERS_TOO_LARGE: 431,
      REQUEST_TIMEOUT: 408,
      NOT_FOUND: 404,
      METHOD_NOT_ALLOWED: 405,
      RATE_LIMITED: 429,
      OVERLOADED: 503,
      SHUTTING_DOWN: 503,
      INTERNAL: 500,
    });
  });

  it("take statuses from the table only", () => {
    const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
    const literal = /(\.code|statusCode:|status:)\s*\(?\s*(4|5)\d\d\b/;
    expect(files.filter((name) => literal.test(readFileSync(join(root, name), "utf8")))).to.deep.equal([]);
  });

  it("explain what was wrong with a request", () => {
    const { status, body } = toResponse(new SottoError("TEA", "no coffee here"));
    expect(status).to.equal(418);
    expect(body).to.deep.equal({ error: "I'm a Teapot", message: "no coffee here", code: "TEA" });
    expect(toResponse(new ServerError("NOT_FOUND", "nothing")).status).to.equal(404);
  });

  it("take Retry-After from the error's details", () => {
    const { handle } = errorHandler({
      errors: { ...SERVER_ERRORS, LATER: { means: "Try again.", cause: "A test.", http: 429 } },
    });
    const told = (details: ErrorDetails, code = "LATER"): unknown => {
      const headers: Record<string, unknown> = {};
      const reply = {
        header: (name: string, value: unknown) => {
          headers[name] = value;
          return reply;
        },
        code: () => reply,
        type: () => reply,
        send: () => reply,
      };
      const request = { log: { error: () => undefined }, routeOptions: {} };
      handle(new SottoError(code, "later", details), request as never, reply as never);
      return headers["retry-after"];
    };
    expect(told({ retryAfter: 4.2 })).to.equal(5);
    expect(told({ retryAfter: 0 })).to.equal(1);
    const { now } = Date;
    Date.now = () => 1_790_000_000_000;
    try {
      expect(told({ resetAt: Date.now() + 9_500 })).to.equal(10);
    } finally {
      Date.now = now;
    }
    expect(told({})).to.equal(undefined);
    expect(told({}, "OVERLOADED")).to.equal(5);
  });

  it("say in the message when a limit ends", () => {
    const { handle } = errorHandler({
      errors: { ...SERVER_ERRORS, LATER: { means: "Try again.", cause: "A test.", http: 429 } },
    });
    const told = (code: string, details: ErrorDetails): unknown => {
      let body: unknown;
      const reply = {
        header: () => reply,
        code: () => reply,
        type: () => reply,
        send: (sent: { message: string }) => {
          body = sent.message;
          return reply;
        },
      };
      const request = { log: { error: () => undefined }, routeOptions: {} };
      handle(new SottoError(code, "limit exceeded: 3 a day", details), request as never, reply as never);
      return body;
    };
    for (const [retryAfter, words] of [
      [0.2, "1 s"],
      [119, "119 s"],
      [121, "3 min"],
      [7_199, "120 min"],
      [7_201, "3 h"],
      [86_400, "24 h"],
    ] as const)
      expect(told("LATER", { retryAfter })).to.equal(`limit exceeded: 3 a day; retry in ${words}`);
    expect(told("LATER", {})).to.equal("limit exceeded: 3 a day");
    expect(told("OVERLOADED", { retryAfter: 3 })).to.equal("limit exceeded: 3 a day");
  });

  it("map errors of libraries as the server defines", () => {
    expect(toResponse("store unavailable")).to.deep.equal({
      status: 503,
      body: { error: "Service Unavailable", message: "later", code: "OVERLOADED" },
    });
  });

  it("reveal nothing about an internal error", () => {
    for (const error of [new Error("secret"), new SottoError("WHATEVER", "secret"), "secret", null, { code: "X" }]) {
      const { status, body } = toResponse(error);
      expect([status, body.code]).to.deep.equal([500, "INTERNAL"]);
      expect(JSON.stringify(body)).to.not.include("secret");
    }
  });

  it("do not treat properties of Object as codes", () => {
    expect(statusOf(SERVER_ERRORS, "toString")).to.equal(500);
    expect(statusOf(SERVER_ERRORS, "__proto__")).to.equal(500);
  });

  it("are described by status, with the codes of each", () => {
    const responses = errorResponses(SERVER_ERRORS, "INVALID_JSON", "OVERLOADED", "DUPLICATE_KEY");
    const described = Object.entries(JSON.parse(JSON.stringify(responses)) as Record<string, { description: string }>);
    expect(described.map(([status, { description }]) => [status, description])).to.deep.equal([
      ["400", "Bad Request: `INVALID_JSON`, `DUPLICATE_KEY`"],
      ["503", "Service Unavailable: `OVERLOADED`"],
    ]);
  });
});
