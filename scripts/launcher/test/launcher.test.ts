// Runs a copy of the launcher in an empty folder, with an npm that each test defines.

import { type SpawnSyncReturns, spawn, spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";

const root = join(import.meta.dirname, "..", "..", "..");

describe("the launcher", function () {
  slow(this, "processes start and end");
  let folder: string;
  let env: NodeJS.ProcessEnv;

  beforeEach(() => {
    folder = temporaryFolder("launcher");
    for (const path of [
      "scripts/run.mjs",
      "scripts/tasks.mjs",
      "scripts/launcher",
      "packages/command/src",
      "package.json",
    ])
      cpSync(join(root, path), join(folder, path), { recursive: true });
    for (const path of ["node_modules", "fake"]) mkdirSync(join(folder, path));
    for (const path of ["pnpm-lock.yaml", "pnpm-workspace.yaml"]) writeFileSync(join(folder, path), "");
    env = { ...process.env, PATH: [join(folder, "fake"), process.env["PATH"]].join(delimiter) };
  });

  const put = (name: string, script: string) => {
    writeFileSync(join(folder, "fake", name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, "fake", name), 0o755);
  };
  /** An npm that installs the script `pnpm` as pnpm, and no Node. */
  const putNpm = (pnpm: string) => {
    put("pnpm-to-be", pnpm);
    put("npm", `mkdir -p node_modules/.bin && cp "${folder}/fake/pnpm-to-be" node_modules/.bin/pnpm`);
  };
  const run = (...args: string[]): SpawnSyncReturns<string> =>
    spawnSync(process.execPath, [join(folder, "scripts", "run.mjs"), ...args], { cwd: folder, env, encoding: "utf8" });
  const leftovers = () => readdirSync(folder).filter((name) => name.startsWith(".toolchain"));

  it("rejects an unknown task with a code and the known tasks, before it installs anything", () => {
    for (const args of [[], ["nonsense"], ["constructor"]]) {
      const { status, stderr } = run(...args);
      expect(status).to.equal(1);
      expect(stderr).to.match(/^sotto: UNKNOWN_TASK: unknown task ".*"; one of: dev, demo, test, .*\n$/);
    }
    expect(leftovers()).to.deep.equal([]);
  });

  it("reports in one line that Node is too old", () => {
    const pretend = `data:text/javascript,Object.defineProperty(process, "versions", { value: { node: "18.20.8" } });`;
    const args = ["--import", pretend, join(folder, "scripts", "run.mjs"), "build"];
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: "utf8" });
    expect(stderr).to.match(/^sotto: NODE_TOO_OLD: Node 20 or newer is needed .*\n$/);
    expect(status).to.equal(1);
  });

  it("installs once, and again only if the dependencies changed", () => {
    putNpm(`echo "$@" >> "${folder}/installs"`);
    const task = () => run("contracts:build", "--help");
    const first = task();
    expect(first.stderr).to.contain("fetching").and.contain("installing");
    expect(task().stderr).not.to.contain("fetching").and.not.contain("installing");
    writeFileSync(join(folder, "pnpm-lock.yaml"), "changed");
    expect(task().stderr).to.contain("installing").and.not.contain("fetching");
    expect(leftovers()).to.deep.equal([".toolchain"]);
  });

  it("keeps the package store of node_modules, also under another HOME, while it exists", () => {
    putNpm(`echo "$@" >> "${folder}/installs"`);
    const store = join(folder, "store", "v11");
    writeFileSync(join(folder, "node_modules", ".modules.yaml"), JSON.stringify({ storeDir: store }, null, 2));
    run("contracts:build", "--help");
    mkdirSync(store, { recursive: true });
    writeFileSync(join(folder, "pnpm-lock.yaml"), "changed");
    run("contracts:build", "--help");
    const [before, after] = readFileSync(join(folder, "installs"), "utf8").split("\n");
    expect(before).to.not.include("--store-dir");
    expect(after?.split(" ").at(-1)).to.equal(`--store-dir=${store}`);
  });

  it("reports every 3 seconds that it is installing, and how many packages are done", () => {
    const line = (added: number) => `echo "Progress: resolved 40, reused 0, downloaded ${added}, added ${added}"`;
    putNpm(`${line(12)}; sleep 3; ${line(40)}`);
    const lines = run("contracts:build", "--help").stderr.match(/^sotto: installing .*$/gm) ?? [];
    expect(lines[0]).to.match(/installing the locked dependencies \(\d+ s of about \d+ s\)$/);
    expect(lines[1]).to.match(/installing 12 of 40 locked dependencies \(\d+ s of about \d+ s\)$/);
    // A terminal of 80 columns cuts longer lines, and the times are at the end.
    for (const line of lines) expect(line).to.have.lengthOf.at.most(79);
  });

  it("reports an unreachable registry, and leaves no partial files", () => {
    put("npm", "exit 7");
    const { status, stderr } = run("build");
    expect(status).to.equal(1);
    expect(stderr).to.contain("sotto: INSTALL_FAILED:").and.contain("exit 7").and.not.contain("    at ");
    expect(leftovers()).to.deep.equal([]);
  });

  it("installs again after a failed install of the dependencies", () => {
    putNpm("echo no such package; exit 9");
    expect(run("build").stderr).to.contain("no such package").and.contain("INSTALL_FAILED").and.contain("exit 9");
    expect(existsSync(join(folder, "node_modules", ".sotto-stamp"))).to.equal(false);
    expect(run("build").stderr).to.contain("installing").and.not.contain("fetching");
  });

  describe("building before a command", () => {
    /** The task `sotto` with a fake turbo, and a program that prints its arguments and environment. */
    const sotto = (turbo: string, started: NodeJS.ProcessEnv = {}) => {
      putNpm("exit 0");
      put("turbo", turbo);
      mkdirSync(join(folder, "packages", "cli", "dist"), { recursive: true });
      const names = ["npm_lifecycle_event", "npm_config_user_agent"];
      const program = `console.log(JSON.stringify(${JSON.stringify(names)}.map((name) => process.env[name] ?? null)))`;
      writeFileSync(join(folder, "packages", "cli", "package.json"), "{}");
      writeFileSync(join(folder, "packages", "cli", "dist", "main.js"), program);
      for (const name of names) delete env[name];
      Object.assign(env, started);
      run("contracts:build", "--help");
      return run("sotto", "balance");
    };

    it("prints nothing for an unchanged build", () => {
      const { status, stdout, stderr } = sotto('echo "• Running build in 12 packages"; echo "cache hit, replaying"');
      expect([status, stdout, stderr]).to.deep.equal([0, "[null,null]\n", ""]);
    });

    it("prints a build on standard error", () => {
      const { status, stdout, stderr } = sotto('echo "• Running build"; echo "cache miss, executing 12ab"; echo done');
      expect([status, stdout]).to.deep.equal([0, "[null,null]\n"]);
      expect(stderr).to.equal("• Running build\ncache miss, executing 12ab\ndone\n");
    });

    it("prints a failed build, and does not start the command", () => {
      const { status, stdout, stderr } = sotto('echo "• Running build"; echo "no such task" >&2; exit 3');
      expect([status, stdout]).to.deep.equal([3, ""]);
      expect(stderr).to.contain("• Running build\n").and.to.contain("no such task\n");
    });

    it("forwards the variables that show how it was started, so that hints name the right command", () => {
      const started = { npm_lifecycle_event: "sotto", npm_config_user_agent: "pnpm/12.21.0 node/v24" };
      expect(sotto("exit 0", started).stdout).to.equal('["sotto","pnpm/12.21.0 node/v24"]\n');
    });
  });

  describe("in two terminals", () => {
    /** Starts a task without waiting for its end. */
    const start = (...args: string[]) => {
      const child = spawn(process.execPath, [join(folder, "scripts", "run.mjs"), ...args], { cwd: folder, env });
      let stderr = "";
      child.stderr.setEncoding("utf8").on("data", (text) => {
        stderr += text;
      });
      const ended = new Promise<string>((resolve) => child.once("close", () => resolve(stderr)));
      return { child, ended, stderr: () => stderr };
    };
    const until = async (condition: () => boolean) => {
      while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    /** A command that logs when it starts, runs until the test lets it end, and logs when it ends. */
    const putHeld = (name: string) =>
      put(
        name,
        `echo start >> "${folder}/log"; while [ ! -e "${folder}/go" ]; do sleep 0.1; done; echo end >> "${folder}/log"`,
      );
    const log = () => (existsSync(join(folder, "log")) ? readFileSync(join(folder, "log"), "utf8").split("\n") : []);

    it("installs once, and the second command says for which it waits", async () => {
      putHeld("pnpm-held");
      putNpm(`exec "${folder}/fake/pnpm-held"`);
      put("hardhat", "exit 0");
      const first = start("contracts:build");
      await until(() => log().includes("start"));
      const second = start("contracts:build");
      await until(() => second.stderr().includes("waiting"));
      writeFileSync(join(folder, "go"), "");
      await Promise.all([first.ended, second.ended]);
      expect(log()).to.deep.equal(["start", "end", ""]);
      expect(second.stderr()).to.match(/^waiting for npm run contracts:build \(process \d+\) to build \(\d+ s\)$/m);
      expect([first.child.exitCode, second.child.exitCode]).to.deep.equal([0, 0]);
    });

    it("builds in one after the other, also after the first was killed", async () => {
      putNpm("exit 0");
      putHeld("turbo");
      run("contracts:build", "--help");
      const first = start("build");
      await until(() => log().includes("start"));
      const second = start("build");
      await until(() => second.stderr().includes("waiting for npm run build"));
      expect(log()).to.deep.equal(["start", ""]);
      first.child.kill("SIGKILL");
      await until(() => log().filter((line) => line === "start").length === 2);
      writeFileSync(join(folder, "go"), "");
      await second.ended;
      expect(second.child.exitCode).to.equal(0);
      expect(existsSync(join(folder, ".dev", "build.lock"))).to.equal(false);
    });
  });

  it("leaves no partial files if stopped while fetching", async () => {
    put("npm", `mkdir -p node_modules && touch "${folder}/fetching" && exec sleep 30`);
    const child = spawn(process.execPath, [join(folder, "scripts", "run.mjs"), "build"], { cwd: folder, env });
    while (!existsSync(join(folder, "fetching"))) await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill("SIGTERM");
    expect(await new Promise((resolve) => child.once("close", resolve))).to.equal(130);
    expect(leftovers()).to.deep.equal([]);
  });

  it("passes on the arguments and the exit code of the task", () => {
    putNpm("true");
    put("hardhat", 'echo "got $@"; exit 5');
    const { status, stdout } = run("contracts:build", "--some", "argument");
    expect(stdout).to.equal("got build --quiet --some argument\n");
    expect(status).to.equal(5);
  });

  it("keeps standard output for the command", () => {
    putNpm("echo a deprecated dependency");
    put("turbo", "echo cache miss, executing; echo built");
    mkdirSync(join(folder, "packages", "cli", "dist"), { recursive: true });
    writeFileSync(join(folder, "packages", "cli", "dist", "main.js"), "console.log(process.argv.slice(2).join(' '));");
    const { stdout, stderr } = run("sotto", "balance", "--json");
    expect(stdout).to.equal("balance --json\n");
    expect(stderr).to.contain("installing").and.contain("built").and.not.contain("deprecated");
  });

  it("hides only npm's own variables from the task", () => {
    putNpm("true");
    put("hardhat", "env");
    env["npm_lifecycle_event"] = "build";
    env["npm_config_registry"] = "https://registry.example/";
    const { stdout } = run("contracts:build");
    expect(stdout).to.contain("npm_config_registry=https://registry.example/").and.not.contain("npm_lifecycle_event");
  });
});
