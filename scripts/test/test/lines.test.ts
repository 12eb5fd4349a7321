import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { eventLines, outcomeLines, summaryLines } from "../lines.ts";
import { type Outcome, runWork, type Work } from "../work.ts";

const reporter = join(import.meta.dirname, "..", "reporter.cjs");

describe("what the test run prints", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "sotto-runner-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Runs a suite and prints as the test run does. */
  async function printed(text: string): Promise<{ during: string[]; after: string; summary: string[] }> {
    writeFileSync(join(folder, "some.test.mjs"), text);
    const command = ["mocha", "some.test.mjs", "--reporter", reporter];
    const work: Work = { name: "toy", kind: "suite", command, cwd: folder };
    const during: string[] = [];
    let told = 0;
    const outcome = await runWork(work, join(folder, "logs"), (event) => {
      if (event.event === "fail") told += 1;
      during.push(...(eventLines("toy", event)?.split("\n") ?? []));
    });
    const summary = summaryLines(new Map<Work, Outcome>([[work, outcome]]), 12.34).split("\n");
    return { during, after: outcomeLines(work, outcome, told), summary };
  }

  it("tells each failed test with its reason and our frames when it fails, before its group's line", async () => {
    const { during, after } = await printed(`
      import { expect } from "${import.meta.resolve("chai")}";
      describe("group", () => {
        it("passes", () => {});
        it("fails", () => { expect(1, "the number").to.equal(2); });
        it("cannot fetch", async () => { throw new TypeError("fetch failed", { cause: new Error("refused") }); });
      });
    `);
    const [first = "", reason = ""] = during;
    expect(first).to.equal("  FAIL toy: group > fails");
    expect(reason).to.equal("       AssertionError: the number: expected 1 to equal 2");
    expect(during.slice(2, 4)).to.deep.equal(["       expected 2", "       actual   1"]);
    expect(during[4]).to.match(/^ +at .*some\.test\.mjs:5:/);
    const second = during.indexOf("  FAIL toy: group > cannot fetch");
    expect(during.slice(second + 1, second + 3).map((line) => line.trim())).to.deep.equal([
      "TypeError: fetch failed",
      "caused by Error: refused",
    ]);
    expect(during.at(-1)).to.match(/^ {2}FAIL toy: group: 1 passed, 2 failed \(/);
    expect(during.join("\n")).to.not.include("node_modules");
    expect(after).to.match(/^FAIL toy: 1 passed, 2 failed \([^\n]*\)$/);
  });

  it("cuts what is long", async () => {
    const { during, summary } = await printed(`
      it("says much", () => { throw new Error(Array(500).fill("word ".repeat(200)).join("\\n")); });
    `);
    expect(during).to.have.length.below(14);
    expect(Math.max(...[...during, ...summary].map((line) => line.length))).to.be.below(330);
    expect(during.join("\n")).to.include("some.test.mjs:2:");
  });

  it("ends with the failed tests, each with its reason, and the sums in the very last line", async () => {
    const { summary } = await printed(`
      describe("group", () => {
        it("fails", () => { throw new Error("because of this"); });
        it("passes", () => {});
      });
    `);
    expect(summary).to.deep.equal([
      "",
      "12.3 s; logs in .sotto/test/",
      "",
      "failures:",
      "  toy: group > fails",
      "       Error: because of this",
      "1 passed, 1 failed",
    ]);
  });

  it("tells of a suite that crashes what failed before, once, and why it crashed", async () => {
    const { during, after, summary } = await printed(`
      describe("group", () => {
        it("fails", () => { throw new Error("before that"); });
        it("crashes", () => { console.log("last words"); process.exit(0); });
      });
    `);
    expect(during[0]).to.equal("  FAIL toy: group > fails");
    expect(after).to.include("the suite crashed (exit 0)").and.include("last words").and.not.include("before that");
    expect(summary).to.include("  toy: group > fails").and.include("  toy: the suite crashed (exit 0)");
    expect(summary.at(-1)).to.equal("0 passed, 2 failed");
  });

  it("tells nothing of what passes but its sums", async () => {
    const { during, after, summary } = await printed(`describe("group", () => it("passes", () => {}));`);
    expect(during).to.have.lengthOf(1);
    expect(during[0]).to.match(/^ {2}ok {3}toy: group: 1 passed \(/);
    expect(after).to.match(/^ok {3}toy: 1 passed, 0 failed \(/);
    expect(summary).to.deep.equal(["", "12.3 s; logs in .sotto/test/", "1 passed, 0 failed"]);
  });
});
