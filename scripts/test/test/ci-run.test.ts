// Runs `.ci/run` with small commands instead of the tests.

import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";

const checkout = join(import.meta.dirname, "..", "..", "..");
const script = join(checkout, ".ci", "run");
const HIDES_TMP = "fresh machine: /tmp is an empty folder, in a mount namespace of its own";
const IN_HOME = "fresh machine: the checkout is in HOME, which no other user may enter";

describe(".ci/run", function () {
  slow(this, "processes start and end");
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder("ci-test");
    mkdirSync(join(folder, "home", ".cache"), { recursive: true });
    mkdirSync(join(folder, "bin"));
    writeFileSync(join(folder, "home", ".npmrc"), "registry=http://127.0.0.1:9/npm/\n");
  });

  /** Runs a shell command with `.ci/run`, as a user whose home folder has an .npmrc. */
  const run = (command: string) => {
    const registry = /^(npm|pnpm)_config_(registry|userconfig)$/i;
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !registry.test(name)));
    const PATH = `${join(folder, "bin")}:${process.env["PATH"]}`;
    const { status, stdout, stderr } = spawnSync("bash", [script, "bash", "-c", command], {
      cwd: folder,
      env: { ...env, PATH, HOME: join(folder, "home"), XDG_CACHE_HOME: join(folder, "home", ".cache") },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
    const lines = stdout.trimEnd().split("\n");
    const said = lines.filter((line) => line.startsWith("fresh machine: "));
    return { status, stderr, said, answer: lines.slice(said.length) };
  };

  it("gives the command an empty home, an empty temporary folder and caches of its own, in the checkout", () => {
    const { status, stderr, said, answer } = run(
      `pwd; cat .ci/run | head -n 1; echo "$HOME"; echo "$npm_config_cache"; echo "\${XDG_CACHE_HOME-none}"; ls -A "$HOME"; ls -A "$TMPDIR"`,
    );
    expect([status, stderr]).to.deep.equal([0, ""]);
    const [root, text, home = "", cache = "", xdg, ...found] = answer;
    const isInHome = said.includes(IN_HOME);
    expect([root, text, xdg]).to.deep.equal([isInHome ? join(home, "sotto") : checkout, "#!/usr/bin/env bash", "none"]);
    expect(found).to.deep.equal(isInHome ? ["sotto"] : []);
    expect(home).to.match(/\/sotto-ci\.\w+\/home$/);
    expect(cache).to.equal(join(home, "..", "npm"));
    expect(said[0]).to.equal("fresh machine: HOME, the npm cache and the pnpm store are empty folders of this run");
  });

  it("puts the checkout where no other user may enter whenever it hides /tmp", () => {
    const { said, answer } = run('stat -c %a "$HOME"; git rev-parse --is-inside-work-tree');
    expect(said.includes(IN_HOME)).to.equal(said.includes(HIDES_TMP));
    expect(answer).to.deep.equal(["700", "true"]);
  });

  it("reports that it hides the machine's /tmp if and only if it does", () => {
    const marker = mkdtempSync("/tmp/sotto-ci-marker-");
    try {
      const { said, answer } = run(`test -e "${marker}" && echo seen || echo hidden`);
      expect(answer).to.deep.equal([said.includes(HIDES_TMP) ? "hidden" : "seen"]);
    } finally {
      rmSync(marker, { recursive: true });
    }
  });

  it("runs without a mount namespace if none is permitted, and reports it", () => {
    writeFileSync(join(folder, "bin", "unshare"), "#!/bin/sh\nexit 1\n");
    chmodSync(join(folder, "bin", "unshare"), 0o755);
    const { status, said, answer } = run('ls -A "$TMPDIR"; echo "$TMPDIR"');
    expect(status).to.equal(0);
    expect(said[1]).to.match(/^fresh machine: TMPDIR is an empty folder; \/tmp is the machine's own /);
    expect(answer).to.have.lengthOf(1);
    expect(answer[0]).to.match(/\/sotto-ci\.\w+\/tmp$/);
  });

  it("keeps the machine's registry setting for npm and pnpm", () => {
    const { answer } = run("npm config get registry; pnpm config get registry");
    expect(answer).to.deep.equal(["http://127.0.0.1:9/npm/", "http://127.0.0.1:9/npm/"]);
  });

  it("ends with the command's last line and exit code, and removes everything it created", () => {
    const locked = 'mkdir -p "$HOME/a/b" && chmod 500 "$HOME/a" && mkdir -p "$pnpm_config_store_dir/c"';
    const { status, stderr, answer } = run(`echo "$HOME"; ${locked}; echo "3 passed, 1 failed"; exit 7`);
    expect([status, stderr]).to.deep.equal([7, ""]);
    expect(answer.at(-1)).to.equal("3 passed, 1 failed");
    expect(answer[0]).to.match(/\/home$/);
    expect(existsSync(join(answer[0]!, ".."))).to.equal(false);
  });
});
