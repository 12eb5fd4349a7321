import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { SottoError } from "@sotto/protocol";
import { expect } from "chai";
import { Registry } from "prom-client";
import { httpMetrics } from "../../src/http/metrics.ts";
import { createApp, createLog, describeError, redact, SERVER_ERRORS } from "../../src/index.ts";

/** Secrets as they occur in the errors of nodes, databases and libraries. */
const SECRETS: Readonly<Record<string, readonly [text: string, secret: string]>> = {
  "a node's key in its path": ["cannot reach https://mainnet.node.example/v3/canary0key now", "canary0key"],
  "a node's key in its query": ["GET wss://node.example?apikey=canary0key failed", "canary0key"],
  "a database's password": ["connect to postgres://sotto:canary-word@db.example:5432/sotto", "canary-word"],
  "a private key": [`invalid private key 0x${"c0ffee".repeat(10)}c0ff`, "c0ffeec0ffee"],
  "a private key without 0x": [`invalid private key ${"C0FFEE".repeat(10)}C0FF`, "C0FFEE"],
  "a node's key alone": ["project id 0a1b2c3d4e5f60718293a4b5c6d7e8f9 exceeded its limit", "0a1b2c3d4e5f6071"],
  "a payment token": ["bad token eyJhbGciOiJFZERTQSJ9.eyJqdGkiOiJjYW5hcnkifQ.c2lnbmF0dXJl", "eyJqdGkiOiJj"],
  "a header": ["request had Authorization: Bearer canary0word", "canary0word"],
  "a setting": ["SOTTO_PHONE_WEBHOOK_SECRET=canary-word is short", "canary-word"],
  "a signal of a proof": [`signal 0 is ${"21888".repeat(15)}`, "2188821888"],
};

/** A third-party error with the text in every field. */
function foreignError(text: string): Error {
  const error = Object.assign(new Error(text), { code: text, name: text });
  error.stack = `Error: ${text}\n    at ${text} (https://${text}:1:1)\n    at file:///${text}.ts:1:1`;
  error.cause = Object.assign(new Error(text), { cause: text });
  return error;
}

describe("redaction", () => {
  for (const [what, [text, secret]] of Object.entries(SECRETS))
    it(`hides ${what} and keeps the surrounding text`, () => {
      expect(redact(text)).to.not.include(secret);
      expect(redact(text).split(" ")[0]).to.equal(text.split(/[ =]/)[0] + (what === "a setting" ? "=[redacted]" : ""));
    });

  it("keeps account addresses, amounts, codes and hosts", () => {
    const text = `there is no contract at 0x${"5e".repeat(20)} on chain 8453 (POOL_MISSING): https://node.example says so`;
    expect(redact(text)).to.equal(text);
  });
});

describe("logs", () => {
  const capture = () => {
    const lines: string[] = [];
    return { lines, log: createLog("debug", { write: (line: string) => void lines.push(line) }) };
  };

  it("show errors by code and location, with messages only of our own errors", () => {
    const { lines, log } = capture();
    const cause = new Error("canary in a node's answer");
    log.error({ err: new SottoError("SOME_CODE", "what we say", {}, { cause }) }, "failed");
    expect(lines[0]).to.include("SOME_CODE").and.include("what we say").and.include("ops/log.test.ts");
    expect(lines[0]).to.not.include("canary");
  });

  it("accept values that are not errors", () => {
    expect(describeError("canary")).to.deep.equal({ name: "string" });
  });

  it("handle an error that is its own cause", () => {
    const error = new Error("x");
    error.cause = error;
    expect(JSON.stringify(describeError(error)).length).to.be.lessThan(20_000);
  });

  for (const [what, [text, secret]] of Object.entries(SECRETS)) {
    it(`hide ${what} in an error, in any field, and in the message`, () => {
      const { lines, log } = capture();
      const ours = new SottoError("SOME_CODE", text, {}, { cause: foreignError(text) });
      for (const level of ["debug", "info", "warn", "error", "fatal"] as const) {
        for (const error of [foreignError(text), ours, new AggregateError([ours], text)]) {
          log[level]({ err: error }, "failed");
          log[level]({ reason: error }, "failed");
          log[level]({ detail: error.message }, error.message);
        }
        log[level]({ err: text }, "failed");
      }
      expect(lines).to.have.length(50);
      for (const line of lines) expect(line).to.not.include(secret);
    });

    it(`hide ${what} in the error of a request`, async () => {
      const { lines, log } = capture();
      const app = await createApp({
        log,
        metrics: httpMetrics(new Registry()),
        errors: { ...SERVER_ERRORS, SOME_CODE: { means: "A test.", cause: "A test.", http: 503 } },
        openapi: {},
        config: { trustProxy: [], bodyLimit: 4096, corsOrigins: [], rateLimit: 100, latestLoopMs: 0 },
        routes: (routes) => {
          routes.get("/foreign", async () => {
            throw foreignError(text);
          });
          routes.get("/ours", async () => {
            throw new SottoError("SOME_CODE", "the node is unreachable", {}, { cause: foreignError(text) });
          });
        },
      });
      for (const url of ["/foreign", "/ours"]) expect((await app.inject({ url })).body).to.not.include(secret);
      await app.close();
      expect(lines.filter((line) => line.includes("request failed"))).to.have.length(2);
      expect(lines.join("")).to.not.include(secret);
    });
  }

  it("hide secrets in a program's last line", async () => {
    const program = join(import.meta.dirname, "..", "..", "src", "ops", "program.ts");
    for (const [text, secret] of Object.values(SECRETS)) {
      const code = `import { endWith } from ${JSON.stringify(program)}; await endWith(async () => { throw new Error(${JSON.stringify(text)}); });`;
      const run = promisify(execFile)(process.execPath, ["--input-type=module-typescript", "-e", code]);
      const { stderr } = await run.then(
        () => expect.fail("it ended well"),
        (error: { stderr: string }) => error,
      );
      expect(stderr).to.match(/^sotto: UNEXPECTED: /);
      expect(stderr).to.not.include(secret);
    }
  });
});
