// What people see who start a program with a Node that is too old: one line that says what to do, instead of the stack
// trace of a module that is missing.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../scripts/circuits/paths.ts";
import { publicFolders, readManifest } from "../../scripts/release/pack.ts";
import { slow } from "../kit/slow.ts";

const OLD = "20.20.2";
/** Makes this Node say that it is an old one, and lack what an old one lacks. */
const PRETEND = `
import { registerHooks } from "node:module";
Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${OLD}" } });
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === "node:sqlite") throw new Error("No such built-in module: node:sqlite");
    return next(specifier, context);
  },
});`;
const LINE =
  /^sotto: NODE_TOO_OLD: this is Node 20\.20\.2, but Node 22\.13 or newer is needed; install one, or .*npm run.*\n$/;

describe("with a Node that is too old", function () {
  slow(this, "packages are packed and installed");
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "sotto-node-"));
    writeFileSync(join(folder, "pretend.mjs"), PRETEND);
  });
  after(() => rmSync(folder, { recursive: true }));

  const start = (...args: string[]) =>
    spawnSync(process.execPath, ["--import", join(folder, "pretend.mjs"), ...args], {
      // The package of these tests depends on all packages.
      cwd: import.meta.dirname,
      encoding: "utf8",
    });
  const programs = publicFolders()
    .map((folder) => join(folder, "dist", "main.js"))
    .filter((path) => existsSync(join(root, path)));

  it("covers every program of the packages", () => {
    const bins = publicFolders().flatMap((folder) => {
      const { bin = {} } = readManifest(folder);
      return Object.values(bin).map((path) => join(folder, path));
    });
    expect(bins.length).to.be.greaterThan(1);
    expect(programs).to.include.members(bins);
  });

  for (const path of programs)
    it(`${path} says in one line what to do`, () => {
      const { status, stdout, stderr } = start(join(root, path), "--help");
      expect(stderr).to.match(LINE);
      expect([status, stdout]).to.deep.equal([1, ""]);
    });

  it("makes the launcher say in one line what to do", () => {
    writeFileSync(join(folder, "older.mjs"), PRETEND.replace(OLD, "18.20.8"));
    const args = ["--import", join(folder, "older.mjs"), join("scripts", "run.mjs"), "build"];
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
    expect(stderr).to.match(/^sotto: NODE_TOO_OLD: Node 20 or newer is needed .*\n$/);
    expect(status).to.equal(1);
  });

  it("lets programs import any package", () => {
    const entries = publicFolders().flatMap((folder) => {
      const { name, exports = {} } = readManifest(folder);
      return Object.keys(exports).map((entry) => join(name, entry));
    });
    const imports = entries.map((entry) => `import ${JSON.stringify(entry)};`).join("\n");
    const { stdout, stderr } = start("--input-type=module", "--eval", `${imports} console.log("first line");`);
    expect([stdout, stderr]).to.deep.equal(["first line\n", ""]);
  });

  for (const [name, open] of [
    ["@sotto/client/sqlite", 'new store.SqliteStore(":memory:")'],
    ["@sotto/database", 'await store.openDatabase({ url: "sqlite::memory:", name: "some", migrations: {} })'],
  ] as const)
    it(`makes ${name} reject opening a store, with a code and what to do`, () => {
      const refusal = 'console.error("sotto: " + error.code + ": " + error.message)';
      const script = `const store = await import("${name}"); try { ${open}; } catch (error) { ${refusal}; }`;
      const { stderr } = start("--input-type=module", "--eval", script);
      expect(stderr).to.match(LINE);
    });
});
