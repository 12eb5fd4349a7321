// Checks every file that git tracks or would track for unfinished-work notes, disabled tests, machine-specific paths,
// checks of bytes that depend on the realm, and excessive size; and checks that docs/architecture.md names every source folder,
// and that the files exist that documents name.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const MAX_BYTES = 1024 * 1024;

interface Rule {
  readonly what: string;
  readonly pattern: RegExp;
  /** The paths that the rule applies to; default: all. */
  readonly files?: RegExp;
}

// The patterns are written so that this file does not match itself.
const RULES: readonly Rule[] = [
  { what: "a note to do something later", pattern: /\b(?:TO[D]O|FIX[M]E|X[X]X|HA[C]K)\b/ },
  {
    what: "a test that is disabled, or that disables the others",
    pattern:
      /\b(?:describe|context|it|test|suite|specify)\.(?:only|skip)\b|\b(?:xit|xdescribe|xcontext|fit|fdescribe)\(|\bthis\.skip\(/,
    files: /\.test\.[cm]?[jt]s$/,
  },
  {
    what: "a path outside the checkout",
    pattern: /\.\.\/shar[e]d\/|\/wor[k]\/(?:main|shared)|\/hom[e]\/\w+\/|\/User[s]\/\w+\//,
  },
  {
    what: "a check that refuses bytes of another realm; write isBytes or isArrayBuffer of @sotto/protocol",
    pattern: /\binstanceof (?:\w+Array|ArrayBuffer|Buffer|DataView)\b/,
    files: /^packages\/[\w-]+\/src\//,
  },
];
/** Files written by others. */
const FOREIGN = /^(?:(?:packages\/[\w-]+\/)?LICENSE|pnpm-lock\.yaml)$/;

/** @param path relative to the checkout, with forward slashes */
export function problems(path: string, content: Buffer): string[] {
  const found: string[] = [];
  if (content.length > MAX_BYTES) found.push(`${path}: ${content.length} bytes; at most ${MAX_BYTES}`);
  if (FOREIGN.test(path) || content.includes(0)) return found;
  for (const [index, line] of content.toString("utf8").split("\n").entries())
    for (const { what, pattern, files } of RULES)
      if ((!files || files.test(path)) && pattern.test(line))
        found.push(`${path}:${index + 1}: ${what}: ${line.trim()}`);
  return found;
}

const ARCHITECTURE = "docs/architecture.md";
/** A line of the tree in docs/architecture.md: indentation, folder with a slash, phrase. */
const TREE_LINE = /^( *)([\w-]+)\/(?: {2,}\S.*)?$/;

/** The folders of a path that docs/architecture.md must name, without a package's `src`. */
function namedFolders(path: string): string[] {
  const [top = "", second = "", third = "", fourth] = path.split("/");
  if (top === "packages" && third === "src" && fourth !== undefined && path.split("/").length > 4)
    return [`packages/${second}`, `packages/${second}/${fourth}`];
  const inside = path.split("/").length > 2;
  return inside && ["packages", "scripts", "test"].includes(top) ? [`${top}/${second}`] : [];
}

/**
 * Compares the tree in docs/architecture.md with the folders of packages, scripts and tests.
 * @param paths the paths of all files, relative to the checkout
 * @returns a problem for each folder that only one of the two has
 */
export function treeProblems(paths: readonly string[], architecture: string): string[] {
  const documented: string[] = [];
  const parents: { readonly indent: number; readonly folder: string }[] = [];
  for (const line of /```\ncircuits\/[\s\S]*?\n```/.exec(architecture)?.[0].split("\n") ?? []) {
    const [, spaces, name] = TREE_LINE.exec(line) ?? [];
    if (spaces === undefined) continue;
    while (parents.length > 0 && parents.at(-1)!.indent >= spaces.length) parents.pop();
    const folder = [...parents.slice(-1).map((parent) => parent.folder), name].join("/");
    parents.push({ indent: spaces.length, folder });
    documented.push(folder);
  }
  const existing = new Set(paths.flatMap(namedFolders));
  const inTree = (folder: string) => {
    const [top, second, ...rest] = folder.split("/");
    const prefix = top === "packages" && rest.length > 0 ? [top, second, "src", ...rest].join("/") : folder;
    return paths.some((path) => path.startsWith(`${prefix}/`));
  };
  return [
    ...[...existing]
      .filter((folder) => !documented.includes(folder))
      .map((folder) => `${ARCHITECTURE} lacks ${folder}`),
    ...documented
      .filter((folder) => !inTree(folder))
      .map((folder) => `${ARCHITECTURE} names ${folder}, which does not exist`),
  ];
}

const NAMED_FILE = /`((?:circuits|contracts|docs|packages|scripts|test)\/[\w./-]+\.\w+)`/g;
/** Placeholders, and files that builds, ceremonies and fuzzers create. */
const NOT_COMMITTED = /[A-Z]{4}|\.\.|\/(?:build|dist|ceremonies|\.fuzz)\//;

/**
 * Finds the files that a document names, but that do not exist.
 * @param path of the document
 * @param paths the paths of all files, relative to the checkout
 */
export const missingFiles = (path: string, text: string, paths: ReadonlySet<string>): string[] =>
  [...text.matchAll(NAMED_FILE)]
    .map(([, file]) => file!)
    .filter((file) => !NOT_COMMITTED.test(file) && !paths.has(file))
    .map((file) => `${path} names ${file}, which does not exist`);

if (import.meta.main) {
  const root = join(import.meta.dirname, "..", "..");
  const list = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
  const paths = list
    .toString("utf8")
    .split("\0")
    .filter((path) => path !== "");
  const files = paths.filter((path) => existsSync(join(root, path)) && statSync(join(root, path)).isFile());
  const found = files.flatMap((path) => problems(path, readFileSync(join(root, path))));
  found.push(...treeProblems(files, readFileSync(join(root, ARCHITECTURE), "utf8")));
  const existing = new Set(files);
  for (const path of files.filter((path) => path.endsWith(".md")))
    found.push(...missingFiles(path, readFileSync(join(root, path), "utf8"), existing));
  for (const line of found) console.error(line);
  console.log(`${files.length} files, ${found.length} problems`);
  process.exitCode = found.length === 0 && files.length > 0 ? 0 : 1;
}
