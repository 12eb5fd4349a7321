// Watches the sources while `npm run dev` runs, and determines which parts a change affects.
import { existsSync, type FSWatcher, readdirSync, readFileSync, statSync, watch } from "node:fs";
import { join, relative, sep } from "node:path";
import { root } from "@sotto/keys/circuits/paths";

/** Delay after the last change, ms: an editor saves a file in several steps. */
const QUIET_MS = 200;
const SOURCE = /^\w[\w.-]*\.(?:ts|tsx|mts|mjs|css|html|svg|json|sol|circom)$/;
const IGNORED = new Set(["node_modules", "dist", "build", "test", ".test", ".turbo"]);

/** The parts that a batch of changed files affects. */
export interface Changes {
  /** Names of folders in packages/. */
  readonly packages: readonly string[];
  /** Programs beside this file that run as child processes, without their file extension. */
  readonly programs: readonly string[];
  /** Whether circuits or contracts changed, so that another pool has to be deployed. */
  readonly needsFresh: boolean;
  /** Whether the watching program itself changed. */
  readonly needsRestart: boolean;
}

/** @param files relative to the checkout, with forward slashes */
export function classify(files: readonly string[], programs: readonly string[]): Changes {
  const found = (pattern: RegExp) => files.map((file) => pattern.exec(file)?.[1]).filter((name) => name !== undefined);
  const inPackages = found(/^packages\/(?!dev\/)([\w-]+)\//);
  const own = found(/^packages\/dev\/src\/([\w-]+)\.\w+$/);
  return {
    packages: [...new Set(inPackages)].sort(),
    programs: programs.filter((name) => own.includes(name)),
    needsFresh: files.some((file) => /^(?:circuits|contracts)\//.test(file)),
    needsRestart: own.some((name) => !programs.includes(name)),
  };
}

/** The package and all packages of this checkout that it depends on. */
export function dependenciesOf(name: string, packages = join(root, "packages")): Set<string> {
  const found = new Set<string>();
  const queue = [name];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const manifest = join(packages, next, "package.json");
    if (found.has(next) || !existsSync(manifest)) continue;
    found.add(next);
    const { dependencies = {} } = JSON.parse(readFileSync(manifest, "utf8")) as { dependencies?: object };
    for (const dependency of Object.keys(dependencies))
      if (dependency.startsWith("@sotto/")) queue.push(dependency.slice("@sotto/".length));
  }
  return found;
}

/** The folders whose sources matter, relative to the checkout. */
function watchedFolders(checkout: string): string[] {
  const packages = join(checkout, "packages");
  const inPackages = existsSync(packages) ? readdirSync(packages).map((name) => join("packages", name)) : [];
  return [...inPackages, "contracts", "circuits"];
}

/**
 * Calls `onChange` with the changed files, relative to the checkout, once they stop changing.
 * @returns a function that stops watching
 */
export function watchSources(onChange: (files: string[]) => void, checkout = root): () => void {
  const watchers = new Map<string, FSWatcher>();
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const report = (folder: string, file: string): void => {
    changed.add(relative(checkout, join(folder, file)).split(sep).join("/"));
    clearTimeout(timer);
    timer = setTimeout(() => {
      const files = [...changed].sort();
      changed.clear();
      onChange(files);
    }, QUIET_MS);
  };
  /** @param isNew whether the folder was made while watching: its files count as changed */
  const add = (folder: string, isNew: boolean): void => {
    if (watchers.has(folder) || !statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
    // Each folder is watched separately: on Linux, Node's recursive watch follows files, and loses a file that is
    // replaced.
    const watcher = watch(folder, (_, file) => {
      if (!existsSync(folder)) return remove();
      if (file === null) return;
      if (SOURCE.test(file)) report(folder, file);
      else if (!IGNORED.has(file) && !file.includes(".")) add(join(folder, file), true);
    });
    const remove = () => {
      watcher.close();
      watchers.delete(folder);
    };
    watcher.on("error", remove);
    watchers.set(folder, watcher);
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isDirectory() && !IGNORED.has(entry.name)) add(join(folder, entry.name), isNew);
      else if (isNew && entry.isFile() && SOURCE.test(entry.name)) report(folder, entry.name);
  };
  for (const folder of watchedFolders(checkout)) add(join(checkout, folder), false);
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers.values()) watcher.close();
  };
}
