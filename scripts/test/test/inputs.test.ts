// If the inputs of a suite lack a file that it uses, turbo does not run the suite when that file changes.
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { join, normalize } from "node:path";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { listFiles, reachFrom, SUITE, testFiles } from "../reach.ts";
import { listTasks, planOf, type TurboTask } from "../tasks.ts";

const root = join(import.meta.dirname, "..", "..", "..");

/** Whether a build writes it before the suites that use it run; TypeChain and Hardhat do, from the contracts. */
const isBuilt = (path: string): boolean => /^(types|artifacts|packages\/[\w-]+\/dist)\//.test(path);

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
    const run = suites().flatMap((suite) => testFiles(root, suite));
    const folders = new Set(suites().map(({ directory }) => directory));
    // The tests of templates run in the projects that are made from them.
    const exclude = (name: string) => name === "node_modules" || name === "templates";
    const files = [...folders].flatMap((folder) =>
      globSync("**/*.test.ts", { cwd: join(root, folder), exclude }).map((file) => join(folder, file)),
    );
    expect(run.sort()).to.deep.equal(files.sort());
  });

  it("include every file that its tests import, start or name, and every imported package is a dependency", () => {
    const missing: string[] = [];
    const checkout = listFiles(root);
    for (const suite of suites()) {
      const { taskId } = suite;
      const { files, packages } = reachFrom(root, checkout, testFiles(root, suite));
      const ids = involved(taskId);
      const inputs = new Set(
        [...ids].flatMap((id) => {
          const task = tasks.get(id);
          return Object.keys(task?.inputs ?? {}).map((path) => normalize(join(task!.directory, path)));
        }),
      );
      for (const file of files) if (!inputs.has(file)) missing.push(`${taskId}: ${file}`);
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
