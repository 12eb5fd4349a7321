import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { SuiteEvent } from "../events.ts";
import { runWork, type Work } from "../work.ts";

const reporter = join(import.meta.dirname, "..", "reporter.cjs");
const off = ["sk", "ip"].join("");

describe("the test runner", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "sotto-runner-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const runSuite = async (text: string, ...options: string[]) => {
    writeFileSync(join(folder, "some.test.mjs"), text);
    const command = ["mocha", "some.test.mjs", "--reporter", reporter, ...options];
    const events: SuiteEvent[] = [];
    const work: Work = { name: "a suite", kind: "suite", command, cwd: folder };
    const outcome = await runWork(work, join(folder, "logs"), (event) => events.push(event));
    return { ...outcome, events };
  };
  const runCheck = (...command: string[]) =>
    runWork({ name: "a check", kind: "check", command, cwd: folder }, join(folder, "logs"), () => {});

  it("counts what passes and what fails, and says why", async () => {
    const outcome = await runSuite(`
      describe("group", () => {
        it("passes", () => {});
        describe("inner", () => it("passes too", () => {}));
        it("fails", () => { throw new Error("because of this"); });
      });
      it("passes outside of any group", () => {});
    `);
    expect(outcome).to.include({ passed: 3, failed: 1 });
    expect(outcome.failures[0]).to.match(/^group > fails\n.*because of this/);
    expect(outcome.events).to.deep.include({ event: "pass", title: "group > inner > passes too" });
    const group = outcome.events.find((event) => event.event === "group");
    expect(group).to.include({ title: "group", passed: 2, failed: 1 });
  });

  it("shows the values of a failed comparison, numbers of any size included", async () => {
    const error = `Object.assign(new Error("differs"), { expected: 2n ** 64n, actual: { a: 1n } })`;
    const outcome = await runSuite(`it("compares", () => { throw ${error}; });`);
    expect(outcome.failures[0]).to.contain('expected "18446744073709551616n"').and.contain('actual   {"a":"1n"}');
  });

  it("counts a skipped test as a failure", async () => {
    const outcome = await runSuite(`it.${off}("is off", () => {}); it("passes", () => {});`);
    expect(outcome).to.include({ passed: 1, failed: 1 });
    expect(outcome.failures[0]).to.contain("skipped");
  });

  it("counts a failing hook as a failure", async () => {
    const outcome = await runSuite(
      `describe("g", () => { before(() => { throw new Error("no"); }); it("x", () => {}); });`,
    );
    expect(outcome).to.include({ passed: 0, failed: 1 });
  });

  it("counts a suite that crashes half way as failed, with what passed until then and the end of its output", async () => {
    const crash = 'console.log("last words"); process.exit(0);';
    const outcome = await runSuite(`it("passes", () => {}); it("crashes", () => { ${crash} });`);
    expect(outcome).to.include({ passed: 1, failed: 1 });
    expect(outcome.failures[0]).to.contain("crashed").and.contain("last words");
  });

  it("counts a suite that cannot be loaded, or does not exist, as failed", async () => {
    expect(await runSuite("this is no JavaScript")).to.include({ passed: 0, failed: 1 });
    const missing: Work = { name: "gone", kind: "suite", command: ["sotto-has-no-such-command"], cwd: folder };
    expect(await runWork(missing, folder, () => {})).to.include({ passed: 0, failed: 1 });
  });

  it("counts a suite without tests as failed", async () => {
    const outcome = await runSuite("");
    expect(outcome).to.include({ passed: 0, failed: 1 });
    expect(outcome.failures[0]).to.contain("not one test");
  });

  it("counts a bad exit after passing tests as failed", async () => {
    writeFileSync(join(folder, "some.test.mjs"), 'it("passes", () => {});');
    const command = ["sh", "-c", `mocha some.test.mjs --reporter "${reporter}" && exit 3`];
    const outcome = await runWork({ name: "a suite", kind: "suite", command, cwd: folder }, folder, () => {});
    expect(outcome).to.include({ passed: 1, failed: 1 });
    expect(outcome.failures[0]).to.contain("exit 3");
  });

  it("judges a check by its exit code and shows its output", async () => {
    expect(await runCheck("node", "--version")).to.include({ passed: 1, failed: 0 });
    const outcome = await runCheck("node", "--no-such-option");
    expect(outcome).to.include({ passed: 0, failed: 1 });
    expect(outcome.failures[0]).to.contain("no-such-option");
  });
});
