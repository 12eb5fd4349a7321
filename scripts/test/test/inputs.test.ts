// If the inputs of a suite lack a file that it uses, turbo does not run the suite when that file changes.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { listTasks, planOf, type TurboTask } from "../tasks.ts";

const root = join(import.meta.dirname, "..", "..", "..");
/** Lines that begin with a quotation mark are strings: a test may contain a program that a page shows. */
const IMPORT = /^(?!\s*['"`]).*?(?:\bfrom|\bimport)\s*\(?\s*"([^"]+)"/gm;
/** Strings that can be the path of a program that a test starts, as one string or as the arguments of `join`. */
const PROGRAM = /"[\w./-]+"(?:, "[\w./-]+")*/g;
const SUITE = /^test(:\d)?$/;

/** The file that an import of a package loads, from the root of the checkout; undefined if it is built first. */
function sourceOf(specifier: string): string | undefined {
  const [scope, name, ...entry] = specifier.split("/");
  const folder = join("packages", `${name}`);
  if (scope !== "@sotto" || !existsSync(join(root, folder))) return undefined;
  const { exports = {} } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  const target: unknown = exports[[".", ...entry].join("/")];
  return typeof target === "string" && target.startsWith("./src/") ? join(folder, target) : undefined;
}

/** Whether a path is that of a program that runs from its source. */
function isStarted(path: string): boolean {
  const [, top, name, entry] = /^(scripts|packages\/([\w-]+)\/src)\/(.*)\.m?[tj]s$/.exec(path) ?? [];
  return top === "scripts" || (entry !== undefined && sourceOf(`@sotto/${name}/*`) !== undefined);
}

/** Whether a build writes it before the suites that use it run; TypeChain and Hardhat do, from the contracts. */
const isBuilt = (path: string): boolean => /^(types|artifacts|packages\/[\w-]+\/dist)\//.test(path);

/** The test files that a suite's command names. */
function testFiles({ directory, command }: TurboTask): string[] {
  const words = command.split(" ").map((word) => word.replaceAll("'", ""));
  const ignored = words.filter((_, index) => words[index - 1] === "--ignore");
  const options = {
    cwd: join(root, directory),
    exclude: (name: string) => name === "node_modules",
  };
  // Hardhat runs the tests that its configuration names.
  const named = words.filter((word) => word.endsWith(".test.ts") && !ignored.includes(word));
  const patterns = named.length === 0 ? ["**/*.test.ts"] : named;
  const without = new Set(ignored.flatMap((pattern) => globSync(pattern, options)));
  return globSync(patterns, options).filter((file) => !without.has(file));
}

describe("the inputs of a suite", function () {
  slow(this, "turbo hashes every file of the checkout");
  let tasks: Map<string, TurboTask>;
  before(() => {
    tasks = new Map(planOf(root).map((task) => [task.taskId, task]));
  });

  const suites = () =>
    [...tasks.values()].filter(({ task, command }) => SUITE.test(task) && command !== "<NONEXISTENT>");

  /** The task and all its direct and indirect dependencies. */
  function involved(id: string, seen = new Set<string>()): Set<string> {
    if (seen.has(id)) return seen;
    seen.add(id);
    for (const dependency of tasks.get(id)?.dependencies ?? []) involved(dependency, seen);
    return seen;
  }

  /**
   * Collects the files that a file imports or starts, directly or indirectly, and this project's packages by name: the
   * build of a package has the files of the package as inputs.
   */
  function reach(file: string, files: Set<string>, packages: Set<string>): void {
    if (files.has(file) || !existsSync(join(root, file))) return;
    files.add(file);
    if (!/\.m?ts$/.test(file)) return;
    const text = readFileSync(join(root, file), "utf8");
    for (const [, name = ""] of text.matchAll(IMPORT)) {
      const source = sourceOf(name);
      if (name.startsWith(".")) reach(normalize(join(dirname(file), name)), files, packages);
      else if (source !== undefined) reach(source, files, packages);
      else if (name.startsWith("@sotto/")) packages.add(name.split("/").slice(0, 2).join("/"));
    }
    for (const [words] of text.matchAll(PROGRAM)) {
      const path = words
        .replaceAll('"', "")
        .split(", ")
        .filter((part) => part !== "..")
        .join("/");
      if (isStarted(path)) reach(path, files, packages);
    }
  }

  it("are those of all tasks that npm test lists", () => {
    const isListed = ({ task, command }: TurboTask) =>
      command !== "<NONEXISTENT>" && /^(test(:\d)?|types|check:.*)$/.test(task);
    const planned = [...tasks.values()]
      .filter(isListed)
      .map(({ taskId, task, directory }) => [taskId, task, directory]);
    const listed = listTasks(root).map(({ id, script, folder }) => [id, script, folder]);
    expect(listed).to.have.deep.members(planned);
  });

  it("belong to the only suite of its package that runs the test", () => {
    const run = suites().flatMap((suite) => testFiles(suite).map((file) => join(suite.directory, file)));
    const folders = new Set(suites().map(({ directory }) => directory));
    // The tests of templates run in the projects that are made from them.
    const exclude = (name: string) => name === "node_modules" || name === "templates";
    const files = [...folders].flatMap((folder) =>
      globSync("**/*.test.ts", { cwd: join(root, folder), exclude }).map((file) => join(folder, file)),
    );
    expect(run.sort()).to.deep.equal(files.sort());
  });

  it("include every file that its tests import or start, and every imported package is a dependency", () => {
    const missing: string[] = [];
    for (const suite of suites()) {
      const { taskId, directory } = suite;
      const [files, packages] = [new Set<string>(), new Set<string>()];
      for (const name of testFiles(suite)) reach(join(directory, name), files, packages);
      const ids = involved(taskId);
      const inputs = new Set(
        [...ids].flatMap((id) => {
          const task = tasks.get(id);
          return Object.keys(task?.inputs ?? {}).map((path) => normalize(join(task!.directory, path)));
        }),
      );
      for (const file of files) if (!inputs.has(file) && !isBuilt(file)) missing.push(`${taskId}: ${file}`);
      const own = `${taskId.split("#")[0]}`;
      for (const name of packages)
        if (name !== own && !ids.has(`${name}#build`) && !ids.has(`${name}#support`))
          missing.push(`${taskId}: ${name}`);
    }
    expect(missing).to.deep.equal([]);
  });

  it("include no file that a run writes, or the suite would run again although nothing changed", () => {
    const paths = [...tasks.values()].flatMap(({ directory, inputs }) =>
      Object.keys(inputs ?? {}).map((path) => normalize(join(directory, path))),
    );
    const input = [...new Set(paths)].join("\n");
    const { status, stdout } = spawnSync("git", ["check-ignore", "--stdin"], { cwd: root, input, encoding: "utf8" });
    expect(status, "1 says that git ignores none of them").to.be.oneOf([0, 1]);
    expect(stdout.split("\n").filter((path) => path !== "" && !isBuilt(path))).to.deep.equal([]);
  });
});
