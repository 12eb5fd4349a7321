// The limits in turbo.json keep turbo's cache in the checkout small.
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";

const root = join(import.meta.dirname, "..", "..", "..");
const DAY = 86_400;

describe("turbo's cache", () => {
  const folder = mkdtempSync(join(tmpdir(), "sotto-turbo-"));
  const cache = join(folder, ".turbo", "cache");
  before(() => {
    const { cacheMaxAge, cacheMaxSize } = JSON.parse(readFileSync(join(root, "turbo.json"), "utf8"));
    const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const tasks = { greet: { inputs: ["package.json"] } };
    const write = (file: string, content: object) => writeFileSync(join(folder, file), JSON.stringify(content));
    write("turbo.json", { cacheMaxAge, cacheMaxSize, tasks });
    write("package.json", { name: "greeter", private: true, packageManager, scripts: { greet: "echo hello" } });
    write("pnpm-workspace.yaml", { packages: [], pmOnFail: "ignore" });
    run();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** @returns turbo's output */
  function run(): string {
    const { status, stdout, stderr } = spawnSync("turbo", ["run", "greet"], { cwd: folder, encoding: "utf8" });
    expect(status, stdout + stderr).to.equal(0);
    return stdout;
  }

  /** Copies the entry of the task. @returns its archive */
  function addEntry(hash: string, days: number, bytes?: number): string {
    const [, own = ""] = /greet: cache \w+, .* (\w{16})/.exec(run()) ?? [];
    for (const end of ["-meta.json", "-manifest.json", ".tar.zst"]) {
      const file = join(cache, hash + end);
      copyFileSync(join(cache, own + end), file);
      if (end === ".tar.zst" && bytes !== undefined) truncateSync(file, bytes);
      const time = Date.now() / 1000 - days * DAY;
      utimesSync(file, time, time);
    }
    return join(cache, `${hash}.tar.zst`);
  }

  it("evicts entries that are too old, and keeps newer ones", () => {
    const [old, recent] = [addEntry("a".repeat(16), 90), addEntry("b".repeat(16), 10)];
    expect(run()).to.include("cache hit");
    expect([existsSync(old), existsSync(recent)]).to.deep.equal([false, true]);
  });

  it("evicts the oldest entries if it is too large", () => {
    // The file is sparse, so it needs no space on disk.
    const [large, recent] = [addEntry("c".repeat(16), 5, 4e9), addEntry("d".repeat(16), 1)];
    expect(run()).to.include("cache hit");
    expect([existsSync(large), existsSync(recent)]).to.deep.equal([false, true]);
  });
});
