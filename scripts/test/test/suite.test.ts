import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { readOutcome } from "../outcome.ts";
import { readReport } from "../report.ts";
import { runSuite } from "../suite.ts";
import type { Task } from "../tasks.ts";

const program = join(import.meta.dirname, "..", "suite.ts");
const config = join(import.meta.dirname, "..", "..", "..", ".mocharc.cjs");
const off = ["sk", "ip"].join("");
const only = ["on", "ly"].join("");

describe("a suite of the test run", function () {
  slow(this, "processes start and end");
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "sotto-suite-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const path = (name: string) => join(folder, ".test", name);
  const environment = { ...process.env, npm_lifecycle_event: "test:2" };
  const runCommand = (...command: string[]) => {
    const options = { cwd: folder, encoding: "utf8", env: environment } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...command], options);
    expect(stderr).to.equal("");
    return { status, printed: stdout.split("\n") };
  };
  const run = (text: string) => {
    writeFileSync(join(folder, "some.test.mjs"), text);
    return runCommand("mocha", "--config", config, "some.test.mjs");
  };
  const report = () => {
    const read = readReport(path("test-2.jsonl"));
    if (typeof read === "string") throw new Error(read);
    return { passed: read.passed.length, failures: read.failed.map(({ title, error }) => `${title}\n${error}`) };
  };

  it("reports passed and failed tests, with reasons, in files named after its script", () => {
    const { status } = run(`
      describe("group", () => {
        it("passes", () => {});
        describe("inner", () => it("passes too", () => {}));
        it("fails", () => { throw new Error("because of this"); });
      });
      it("passes outside of any group", () => {});
    `);
    expect(status).to.equal(1);
    const { passed, failures } = report();
    expect(passed).to.equal(3);
    expect(failures).to.have.lengthOf(1);
    expect(failures[0]).to.match(/^group > fails\n.*because of this/);
    expect(readFileSync(path("test-2.log"), "utf8")).to.contain("ok   group > inner > passes too (");
  });

  it("exits with 0 if all tests pass, and prints only the totals", () => {
    const { status, printed } = run(`describe("group", () => it("passes", () => {}));`);
    expect(status).to.equal(0);
    expect(printed).to.have.lengthOf(3);
    expect(printed[0]).to.match(/^ {2}ok {3}\S+ 2: group: 1 passed \(/);
    expect(printed[1]).to.match(/^ok {3}\S+ 2: 1 passed, 0 failed \(/);
  });

  it("shows the values of a failed comparison, including large numbers", () => {
    const error = `Object.assign(new Error("differs"), { expected: 2n ** 64n, actual: { a: 1n } })`;
    run(`it("compares", () => { throw ${error}; });`);
    expect(report().failures[0]).to.contain('expected "18446744073709551616n"').and.contain('actual   {"a":"1n"}');
  });

  it("fails on a skipped test", () => {
    expect(run(`it.${off}("is off", () => {}); it("passes", () => {});`).status).to.equal(1);
    expect(report().passed).to.equal(1);
    expect(report().failures[0]).to.contain("Pending test forbidden");
  });

  it("fails on a test marked to run alone", () => {
    expect(run(`it.${only}("is alone", () => {}); it("passes", () => {});`).status).to.equal(1);
    expect(report().failures).to.have.lengthOf(1);
  });

  it("fails on a failing hook", () => {
    run(`describe("g", () => { before(() => { throw new Error("no"); }); it("x", () => {}); });`);
    expect(report()).to.include({ passed: 0 });
    expect(report().failures).to.have.lengthOf(1);
  });

  it("fails on a crash, and reports the tests passed until then and the end of the output", () => {
    const crash = 'console.log("last words"); process.exit(0);';
    const { status, printed } = run(`
      it("passes", () => {});
      it("fails", () => { throw new Error("before that"); });
      it("crashes", () => { ${crash} });
    `);
    expect(status).to.equal(1);
    const { passed, failures } = report();
    expect([passed, failures.length]).to.deep.equal([1, 2]);
    expect(failures[1])
      .to.match(/^the suite crashed \(exit 0\)\n/)
      .and.contain("last words");
    expect(printed.filter((line) => line.includes("FAIL") && line.includes(": fails"))).to.have.lengthOf(1);
  });

  it("fails on a suite that cannot be loaded, is missing, or has no tests", () => {
    expect(run("this is no JavaScript").status).to.equal(1);
    expect(report()).to.include({ passed: 0 });
    expect(runCommand("sotto-has-no-such-command").status).to.equal(1);
    expect(report().failures).to.have.lengthOf(1);
    expect(run("").status).to.equal(1);
    expect(report().failures).to.have.lengthOf(1);
  });

  it("fails if the process exits with an error after all tests passed", () => {
    writeFileSync(join(folder, "some.test.mjs"), 'it("passes", () => {});');
    const { status } = runCommand("sh", "-c", `mocha --config "${config}" some.test.mjs && exit 3`);
    expect(status).to.equal(1);
    expect(report().failures[0]).to.contain("exit 3");
  });

  describe("that hangs", () => {
    const limits = { silentMs: 8_000, exitMs: 1_000 };
    const failuresOf = async (text: string): Promise<string[]> => {
      writeFileSync(join(folder, "some.test.mjs"), text);
      const command = ["mocha", "--config", config, "some.test.mjs"];
      expect(await runSuite(folder, "test:2", command, limits)).to.equal(false);
      return report().failures.map((failure) => failure.split("\n")[0]!);
    };

    it("is killed if a test blocks its process, and says so", async () => {
      expect(await failuresOf(`it("passes", () => {}); it("blocks", () => { for (;;); });`)).to.deep.equal([
        "killed: no test or hook ended for 8 s",
      ]);
      expect(report().passed).to.equal(1);
    });

    it("is killed if its process remains after its last test, and says so", async () => {
      const failures = await failuresOf(`it("passes", () => void setInterval(() => {}, 1_000));`);
      expect(failures).to.deep.equal(["killed: it had not exited 1 s after its last test, so something is still open"]);
    });
  });

  it("kills its child process when it is killed", async function () {
    this.timeout(120_000); // a process that starts, and one that ends
    writeFileSync(
      join(folder, "some.test.mjs"),
      `it("waits", async () => { console.log("pid", process.pid); await new Promise((r) => setTimeout(r, 60_000)); });`,
    );
    const child = spawn(process.execPath, [program, "mocha", "--config", config, "some.test.mjs"], {
      cwd: folder,
      env: environment,
      stdio: "ignore",
    });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    const said = () => (existsSync(path("test-2.log")) ? readFileSync(path("test-2.log"), "utf8") : "");
    while (!/pid \d+\n/.test(said())) await sleep(50);
    const pid = Number(/pid (\d+)/.exec(said())![1]);
    child.kill("SIGTERM");
    expect(await ended).to.equal(1);
    expect(() => process.kill(pid, 0)).to.throw();
  });

  describe("in the summary", () => {
    const task: Task = { id: "p#test:2", name: "p 2", kind: "suite", folder: "", script: "test:2" };
    const ran = (exitCode: number) => ({
      tasks: [{ taskId: task.id, cache: { status: "MISS" as const }, execution: { exitCode } }],
    });
    const fromCache = { tasks: [{ taskId: task.id, cache: { status: "HIT" as const } }] };
    const outcome = (summary: Parameters<typeof readOutcome>[2]) => readOutcome(folder, task, summary);

    it("counts a cached suite with its stored result", () => {
      run(`it("passes", () => {}); it("passes too", () => {});`);
      expect(outcome(ran(0))).to.include({ passed: 2, cached: false });
      expect(outcome(fromCache)).to.include({ passed: 2, cached: true });
      expect(outcome(fromCache).failures).to.deep.equal([]);
    });

    it("fails a suite that turbo did not run, even if a report exists", () => {
      run(`it("passes", () => {});`);
      for (const summary of [
        undefined,
        { tasks: [] },
        { tasks: [{ taskId: task.id, cache: { status: "MISS" as const } }] },
      ])
        expect(outcome(summary).failures[0]).to.match(/^it was not run/);
    });

    it("fails a suite whose report is missing or truncated, or lacks lines", () => {
      expect(outcome(fromCache).failures[0]).to.match(/^it left no report/);
      run(`it("passes", () => {}); it("passes too", () => {});`);
      const lines = readFileSync(path("test-2.jsonl"), "utf8").trimEnd().split("\n");
      const put = (kept: string[]) => writeFileSync(path("test-2.jsonl"), kept.map((line) => `${line}\n`).join(""));
      put(lines.slice(0, -1));
      expect(outcome(ran(0)).failures[0]).to.match(/^its report is cut off/);
      put(lines.slice(1));
      expect(outcome(ran(0)).failures[0]).to.match(/^lines are missing in its report/);
    });

    it("fails a suite that passed and then exited with an error", () => {
      run(`it("passes", () => {});`);
      expect(outcome(ran(3)).failures[0]).to.contain("exit 3");
    });

    it("decides a check by its exit code, and fails it if it did not run", () => {
      const check: Task = { ...task, kind: "check" };
      expect(readOutcome(folder, check, ran(0))).to.include({ passed: 1 });
      expect(readOutcome(folder, check, fromCache)).to.include({ passed: 1, cached: true });
      expect(readOutcome(folder, check, ran(2)).failures[0]).to.match(/^exit 2/);
      expect(readOutcome(folder, check, undefined).failures[0]).to.match(/^it was not run/);
    });
  });
});
