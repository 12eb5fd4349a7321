import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join, matchesGlob, relative } from "node:path";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { isNamed, listTasks, type Task } from "../tasks.ts";

const root = join(import.meta.dirname, "..", "..", "..");

describe("npm test", function () {
  slow(this, "processes start and end");
  let tasks: Task[];
  before(() => {
    tasks = listTasks(root);
  });

  it("rejects an unknown suite, with a code and the known names", () => {
    const args = [join(root, "scripts", "test", "main.ts"), "nonsense"];
    const { status, stderr } = spawnSync("node", args, { encoding: "utf8", cwd: root });
    expect(status).to.equal(1);
    expect(stderr).to.match(/^sotto: UNKNOWN_SUITE: unknown suite "nonsense"; one of: checks, suites, .*\n$/);
  });

  it("runs each test file of the checkout in exactly one task", () => {
    const files = globSync(
      ["packages/*/test/**/*.test.ts", "test/*/**/*.test.ts", "circuits/**/*.test.ts", "scripts/**/*.test.ts"],
      {
        cwd: root,
        exclude: (name) => name === "node_modules" || name === "build",
      },
    );
    expect(files).to.have.length.greaterThan(200);
    for (const file of files) {
      const running = tasks.filter(({ kind, folder, script }) => kind === "suite" && runs(folder, script, file));
      expect(
        running.map(({ id }) => id),
        file,
      ).to.have.lengthOf(1);
    }
  });

  /** Whether a package's script runs a file: its arguments are files, globs and `--ignore`. */
  function runs(folder: string, script: string, file: string): boolean {
    if (!file.startsWith(`${folder}/`)) return false;
    const { scripts } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    const words = scripts[script]!.split(" ").map((word) => word.replaceAll("'", ""));
    const name = relative(folder, file);
    if (words.includes("hardhat")) return !words.some((word) => word.endsWith(".test.ts")) || words.includes(name);
    const ignored = words.filter((_, index) => words[index - 1] === "--ignore");
    const wanted = words.filter((word, index) => word.endsWith(".test.ts") && words[index - 1] !== "--ignore");
    const matches = (glob: string) => matchesGlob(name, glob);
    return wanted.some(matches) && !ignored.some(matches);
  }

  it("checks the types of every package, and runs every check of the root", () => {
    const names = tasks.filter(({ kind }) => kind === "check").map(({ name }) => name);
    for (const name of ["protocol", "prover", "client"]) expect(names).to.include(`types of ${name}`);
    expect(names).to.include.members(["lint", "types", "direction", "generated", "licences", "tidiness"]);
  });

  it("finds tasks by folder, by the last part of the folder, by check and by kind", () => {
    const named = (name: string) => tasks.filter((task) => isNamed(task, name)).map((task) => task.name);
    expect(named("test/relayer")).to.deep.equal(["test/relayer"]);
    expect(named("client")).to.include.members(["packages/client", "test/client"]);
    expect(named("lint")).to.deep.equal(["lint"]);
    expect(named("checks")).to.include("types of client").and.not.include("test/client");
    expect(named("types")).to.include("types of client").and.include("types");
  });
});
