// The files that a task of turbo uses, found in its code: what its programs import, start, and name by a path.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import type { TurboTask } from "./tasks.ts";

/** Lines that begin with a quotation mark are strings: a test may contain a program that a page shows. */
const IMPORT = /^(?!\s*['"`]).*?(?:\bfrom|\bimport)\s*\(?\s*"([^"]+)"/gm;
/** Strings that can be a path, as one string or as the arguments of `join`, and the folder they begin at, if it is named. */
const PATH = /(?:\b(import\.meta\.dirname|root), )?("[\w./-]+"(?:, "[\w./-]+")*)/g;
const URL = /new URL\("([\w./-]+)", import\.meta\.url\)/g;
const CODE = /\.[cm]?[jt]s$/;
export const SUITE = /^test(:\d)?$/;

/** What every suite runs in: its command, and the configuration that mocha finds. */
export const RUNNER = ["scripts/test/suite.ts", ".mocharc.cjs"];

export interface Reached {
  /** Paths from the root of the checkout. */
  readonly files: Set<string>;
  /** Names of this project's packages that are built: the build has their files as inputs. */
  readonly packages: Set<string>;
}

/** The files that are committed, or not ignored and so can be. */
export function listFiles(root: string): Set<string> {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard"];
  const { status, stdout, stderr } = spawnSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 });
  if (status !== 0) throw new Error(`git could not list the files (exit ${status}): ${stderr}`);
  return new Set(stdout.split("\n").filter((path) => path !== "" && existsSync(join(root, path))));
}

/** The test files that a suite's command names. */
export function testFiles(root: string, { directory, command }: TurboTask): string[] {
  const words = command.split(" ").map((word) => word.replaceAll("'", ""));
  const ignored = words.filter((_, index) => words[index - 1] === "--ignore");
  const options = { cwd: join(root, directory), exclude: (name: string) => name === "node_modules" };
  // Hardhat runs the tests that its configuration names.
  const named = words.filter((word) => word.endsWith(".test.ts") && !ignored.includes(word));
  const without = new Set(ignored.flatMap((pattern) => globSync(pattern, options)));
  const files = globSync(named.length === 0 ? ["**/*.test.ts"] : named, options);
  return files.filter((file) => !without.has(file)).map((file) => join(directory, file));
}

/** The files that a task starts with: tests, the programs of its command, or what its package has for others' tests. */
export function entriesOf(root: string, task: TurboTask): string[] {
  if (task.task === "runner") return RUNNER;
  if (SUITE.test(task.task)) return testFiles(root, task);
  const own = Object.keys(task.inputs ?? {}).filter((path) => !path.startsWith("../"));
  const files = ["support", "types"].includes(task.task)
    ? own
    : [...task.command.matchAll(/\bnode (\S+)/g)].map(([, file = ""]) => file);
  return files.filter((file) => CODE.test(file)).map((file) => normalize(join(task.directory, file)));
}

/**
 * @param files those of the checkout
 * @param entries the files to start with
 * @param byPath whether files that the code names by a path count too, not only those that it imports
 */
export function reachFrom(
  root: string,
  files: ReadonlySet<string>,
  entries: readonly string[],
  byPath = true,
): Reached {
  const reached: Reached = { files: new Set(), packages: new Set() };

  /** The file that an import of a package loads; undefined if it is built first. */
  function sourceOf(specifier: string): string | undefined {
    const [scope, name, ...entry] = specifier.split("/");
    const folder = join("packages", `${name}`);
    if (scope !== "@sotto" || !files.has(join(folder, "package.json"))) return undefined;
    const { exports = {} } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    const target: unknown = exports[[".", ...entry].join("/")] ?? exports["./*"];
    if (typeof target !== "string" || !target.startsWith("./src/")) return undefined;
    return join(folder, target.replace("*", entry.join("/")));
  }

  /** Whether a path is that of a program that runs from its source. */
  function isStarted(path: string): boolean {
    const [, top, name, entry] = /^(scripts|packages\/([\w-]+)\/src)\/(.*)\.m?[tj]s$/.exec(path) ?? [];
    return top === "scripts" || (entry !== undefined && sourceOf(`@sotto/${name}/${entry}`) !== undefined);
  }

  function visit(file: string): void {
    if (reached.files.has(file) || !files.has(file)) return;
    reached.files.add(file);
    if (!CODE.test(file)) return;
    const text = readFileSync(join(root, file), "utf8");
    const here = (path: string) => normalize(join(dirname(file), path));
    for (const [, name = ""] of text.matchAll(IMPORT)) {
      const source = sourceOf(name);
      if (name.startsWith(".")) visit(here(name));
      else if (source !== undefined) visit(source);
      else if (name.startsWith("@sotto/")) reached.packages.add(name.split("/").slice(0, 2).join("/"));
    }
    if (!byPath) return;
    for (const [, path = ""] of text.matchAll(URL)) visit(here(path));
    for (const [, folder, words = ""] of text.matchAll(PATH)) {
      const parts = words.replaceAll('"', "").split(", ");
      const beside = folder === "import.meta.dirname";
      const joined = beside ? here(join(...parts)) : normalize(join(...parts.filter((part) => part !== "..")));
      // Without its folder, "package.json" is usually not the root's.
      const paths = folder === undefined ? [joined, ...parts].filter((path) => path.includes("/")) : [joined];
      for (const path of paths)
        if ((beside && path === joined) || isStarted(path)) visit(path);
        else if (files.has(path)) reached.files.add(path);
    }
  }

  for (const entry of entries) visit(entry);
  return reached;
}
