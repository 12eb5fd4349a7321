// Checks that packages under a permissive licence need nothing that has another: each dependency and peer dependency, and theirs.
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { isPermissive } from "./spdx.ts";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** A package and why it is needed: the names from the package that was asked for. */
export interface Needed {
  readonly manifest: Manifest;
  readonly path: readonly string[];
}

const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;

/** The folder in which Node finds a package; undefined if it is not installed. */
function folderOf(name: string, from: string): string | undefined {
  const folder = join(from, "node_modules", name);
  if (existsSync(join(folder, "package.json"))) return realpathSync(folder);
  return dirname(from) === from ? undefined : folderOf(name, dirname(from));
}

/**
 * The package in a folder and all that it needs when it runs, each once. Optional packages that are not installed are left out.
 * @throws Error if another one is not installed
 */
export function closureOf(start: string): Needed[] {
  const found = new Map<string, Needed>();
  const visit = (folder: string, path: readonly string[]): void => {
    if (found.has(folder)) return;
    const manifest = readManifest(folder);
    found.set(folder, { manifest, path: [...path, manifest.name] });
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = manifest;
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const next = folderOf(name, folder);
      const isOptional = optionalDependencies?.[name] !== undefined || peerDependenciesMeta?.[name]?.optional === true;
      if (next !== undefined) visit(next, [...path, manifest.name]);
      else if (!isOptional) throw new Error(`${name}, which ${manifest.name} needs, is not installed`);
    }
  };
  visit(realpathSync(start), []);
  return [...found.values()];
}

export interface ClosureResult {
  /** The names of the packages under a permissive licence. */
  readonly permissive: readonly string[];
  /** The number of packages that they need. */
  readonly needed: number;
  readonly problems: readonly string[];
}

/** Checks the closure of each package in a folder whose licence is permissive, and that it contains its licence's text. */
export function checkClosures(packages: string): ClosureResult {
  const folders = readdirSync(packages)
    .map((name) => join(packages, name))
    .filter((folder) => existsSync(join(folder, "package.json")) && isPermissive(readManifest(folder).license ?? ""));
  const problems: string[] = [];
  const needed = new Set<string>();
  for (const folder of folders) {
    const { name, license } = readManifest(folder);
    const text = join(folder, "LICENSE");
    if (license !== "Apache-2.0") problems.push(`${name}: the licence is ${license}, expected Apache-2.0`);
    if (!existsSync(text) || !readFileSync(text, "utf8").includes("Apache License\n"))
      problems.push(`${name}: LICENSE is not the text of Apache-2.0`);
    for (const { manifest, path } of closureOf(folder)) {
      needed.add(`${manifest.name}@${manifest.version}`);
      if (isPermissive(manifest.license ?? "")) continue;
      problems.push(`${path.join(" > ")}: the licence is ${manifest.license ?? "not stated"}, which is not permissive`);
    }
  }
  return { permissive: folders.map((folder) => readManifest(folder).name), needed: needed.size, problems };
}
