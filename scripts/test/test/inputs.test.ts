// If the inputs of a suite lack a file that it uses, turbo does not run the suite when that file changes.
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { listTasks, planOf, type TurboTask } from "../tasks.ts";

const root = join(import.meta.dirname, "..", "..", "..");
/** Lines that begin with a quotation mark are strings: a test may contain a program that a page shows. */
const IMPORT = /^(?!\s*['"`]).*?(?:\bfrom|\bimport)\s*\(?\s*"([^"]+)"/gm;

describe("the inputs of a suite", function () {
  slow(this, "turbo hashes every file of the checkout");
  let tasks: Map<string, TurboTask>;
  before(() => {
    tasks = new Map(planOf(root).map((task) => [task.taskId, task]));
  });

  /** The task and all its direct and indirect dependencies. */
  function involved(id: string, seen = new Set<string>()): Set<string> {
    if (seen.has(id)) return seen;
    seen.add(id);
    for (const dependency of tasks.get(id)?.dependencies ?? []) involved(dependency, seen);
    return seen;
  }

  /**
   * Collects the files that a file imports by relative paths, directly or indirectly, and this project's packages by name.
   */
  function reach(file: string, files: Set<string>, packages: Set<string>): void {
    if (files.has(file) || !existsSync(join(root, file))) return;
    files.add(file);
    if (!/\.m?ts$/.test(file)) return;
    for (const [, name = ""] of readFileSync(join(root, file), "utf8").matchAll(IMPORT)) {
      if (name.startsWith("@sotto/")) packages.add(name.split("/").slice(0, 2).join("/"));
      else if (name.startsWith(".")) reach(normalize(join(dirname(file), name)), files, packages);
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

  it("include every file that its tests import, and every imported package is a dependency", () => {
    const missing: string[] = [];
    const suites = [...tasks.values()].filter(({ task, command }) => task === "test" && command !== "<NONEXISTENT>");
    for (const { taskId, directory } of suites) {
      const [files, packages] = [new Set<string>(), new Set<string>()];
      const options = { cwd: join(root, directory), exclude: (name: string) => name === "node_modules" };
      for (const name of globSync("**/*.test.ts", options)) reach(join(directory, name), files, packages);
      const ids = involved(taskId);
      const inputs = new Set(
        [...ids].flatMap((id) => {
          const task = tasks.get(id);
          return Object.keys(task?.inputs ?? {}).map((path) => normalize(join(task!.directory, path)));
        }),
      );
      // TypeChain and Hardhat write these from the contracts.
      const made = (file: string) => /^(types|artifacts)\//.test(file) || file.includes("/dist/");
      for (const file of files) if (!inputs.has(file) && !made(file)) missing.push(`${taskId}: ${file}`);
      const own = `${taskId.split("#")[0]}`;
      for (const name of packages)
        if (name !== own && !ids.has(`${name}#build`) && !ids.has(`${name}#support`))
          missing.push(`${taskId}: ${name}`);
    }
    expect(missing).to.deep.equal([]);
  });

  it("include no file that a run writes, or the suite would run again although nothing changed", () => {
    const written = [...tasks.values()].flatMap(({ taskId, inputs }) =>
      Object.keys(inputs ?? {})
        .filter((path) => /(^|\/)(\.turbo|\.test|node_modules)\//.test(path))
        .map((path) => `${taskId}: ${path}`),
    );
    expect(written).to.deep.equal([]);
  });
});
