import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { SottoError } from "@sotto/protocol";
import { expect } from "chai";
import { Registry } from "prom-client";
import { logLevelProblems, parseLogLevels } from "../../src/config/log-levels.ts";
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

  it("show every fault whose cause or incident is another one", () => {
    const lines: Record<string, unknown>[] = [];
    const log = createLog("info", { write: (line: string) => void lines.push(JSON.parse(line)) }, () => 0);
    for (const refusal of ["nonce too low", "insufficient funds", "nonce too low"])
      log.warn({ hash: "0x01", refusal }, "no node accepted the transaction");
    for (const nonce of [7, 8, 7]) log.warn({ nonce }, "another transaction used the nonce");
    for (const ids of [["a"], ["a", "b"], ["a"]]) log.warn({ ids }, "spent, but no event");
    for (const to of [100, 90]) log.warn({ to }, "the chain was reorganized");
    for (const why of ["status 500", "no answer"]) log.warn({ code: "SMS_FAILED", why }, "a code was not sent");
    expect(lines.map(({ refusal, nonce, ids, to, why }) => refusal ?? nonce ?? ids ?? to ?? why)).to.deep.equal([
      ...["nonce too low", "insufficient funds", 7, 8, ["a"], ["a", "b"], 100, 90, "status 500", "no answer"],
    ]);
  });

  it("show a fault when it appears or changes, and then once a minute with the number of lines left out", () => {
    const lines: Record<string, unknown>[] = [];
    let now = 0;
    const log = createLog("info", { write: (line: string) => void lines.push(JSON.parse(line)) }, () => now);
    const down = () => log.error({ err: new SottoError("STORE_UNAVAILABLE", "no answer") }, "a round failed");
    for (let second = 0; second < 120; second += 1) {
      now = second * 1_000;
      down();
      // Each payment has its own id.
      log.warn({ id: String(second), reason: "NOT_YET" }, "deferred");
      if (second === 30) log.warn({ id: "x", reason: "TOO_LATE" }, "deferred");
      log.info({ id: String(second) }, "settled");
    }
    const ofMessage = (message: string) => lines.filter(({ msg }) => msg === message);
    expect(ofMessage("a round failed").map(({ repeated }) => repeated)).to.deep.equal([undefined, 59]);
    expect(ofMessage("deferred").map(({ id, repeated }) => [id, repeated])).to.deep.equal([
      ["0", undefined],
      ["x", undefined],
      ["60", 59],
    ]);
    expect(ofMessage("settled"), "an ordinary event").to.have.lengthOf(120);
    for (let i = 0; i < 3; i += 1) log.fatal({}, "the end");
    expect(ofMessage("the end")).to.have.lengthOf(3);
    now = 0;
    down();
    expect(ofMessage("a round failed"), "after the clock was set back").to.have.lengthOf(3);
  });

  it("show every line at level debug, and limit what is remembered", () => {
    const { lines, log } = capture();
    for (let i = 0; i < 3; i += 1) log.error({}, "failed");
    expect(lines).to.have.lengthOf(3);
    const few: string[] = [];
    const limited = createLog("info", { write: (line: string) => void few.push(line) }, () => 0);
    for (let i = 0; i < 600; i += 1) limited.error({ code: `CODE_${i}` }, "failed");
    limited.error({ code: "CODE_0" }, "failed");
    limited.error({ code: "CODE_599" }, "failed");
    expect(few, "the first was forgotten, the last was not").to.have.lengthOf(601);
  });

  it("accept the forms in which libraries log", () => {
    const lines: Record<string, unknown>[] = [];
    const log = createLog("info", { write: (line: string) => void lines.push(JSON.parse(line)) }, () => 0);
    const library = log as unknown as Record<"warn", (...parts: unknown[]) => void>;
    const error = new SottoError("SOME_CODE", "what we say");
    library.warn(error);
    library.warn("alone");
    library.warn({ code: "X" });
    library.warn(error);
    expect(lines).to.have.lengthOf(3);
    expect(lines[0]).to.have.nested.property("err.code", "SOME_CODE");
    expect(lines[1]).to.include({ msg: "alone" });
    expect(lines[2]).to.include({ code: "X" }).and.not.have.property("msg");
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

describe("levels of parts", () => {
  const open = (levels: string) => {
    const lines: { name?: string; msg: string }[] = [];
    const log = createLog(levels, { write: (line: string) => void lines.push(JSON.parse(line)) }, () => 0);
    return { log, shown: () => lines.splice(0).map(({ name = "", msg }) => `${name} ${msg}`) };
  };

  it("apply to the lines of a part, which show its name", () => {
    const { log, shown } = open("warn,relayer=debug,http=silent");
    for (const each of [log, log.part("relayer"), log.part("http"), log.part("chain")]) {
      each.debug({}, "debug");
      each.error({}, "error");
    }
    expect(shown()).to.deep.equal([" error", "relayer debug", "relayer error", "chain error"]);
    expect(log.part("relayer")).to.equal(log.part("relayer"));
  });

  it("change while the program runs, also for parts whose logs exist", () => {
    const { log, shown } = open("info");
    const [relayer, http] = [log.part("relayer"), log.part("http")];
    log.setLevels(parseLogLevels("error,relayer=debug")!);
    for (const each of [log, relayer, http, log.part("chain")]) {
      each.debug({}, "debug");
      each.info({}, "info");
    }
    expect(shown()).to.deep.equal(["relayer debug", "relayer info"]);
    // A part at level debug shows each repeated fault.
    for (const each of [relayer, relayer, http, http]) each.error({}, "fault");
    expect(shown()).to.deep.equal(["relayer fault", "relayer fault", "http fault"]);
    log.setLevels(parseLogLevels("info")!);
    for (const each of [http, http]) each.error({}, "fault of http");
    expect(shown()).to.deep.equal(["http fault of http"]);
  });

  it("are refused if a level, a name or the form is wrong", () => {
    expect(parseLogLevels("debug")).to.deep.equal({ base: "debug", parts: {} });
    expect(parseLogLevels("relayer=debug, warn")).to.deep.equal({ base: "warn", parts: { relayer: "debug" } });
    const parts = (count: number) =>
      Array.from({ length: count }, (_, index) => `a${"b".repeat(index % 8)}${"c".repeat(index / 8)}=info`).join(",");
    expect(Object.keys(parseLogLevels(parts(32))!.parts)).to.have.length(32);
    for (const text of [
      "",
      "loud",
      "info,warn",
      "a=info,a=info",
      "A=info",
      "a=",
      "=info",
      "a=info,",
      "info;b=warn",
      parts(33),
      `a${"b".repeat(32)}=info`,
    ])
      expect(parseLogLevels(text), text).to.equal(undefined);
    const levels = parseLogLevels("info,relayers=debug")!;
    expect(logLevelProblems(levels, ["http", "relayer"])).to.deep.equal([
      "SOTTO_LOG_LEVEL names relayers, but the parts are http, relayer",
    ]);
    expect(logLevelProblems(levels, ["relayers"])).to.deep.equal([]);
  });
});
