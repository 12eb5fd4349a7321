import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { circomLibraryFolder, circuitsFolder } from "../circuits/paths.ts";

/**
 * Circom sources by path: "payment.circom", "lib/note.circom" as under circuits/, and circomlib's as circom includes
 * them ("circomlib/circuits/bitify.circom"). Tests edit these copies and never the files on disk.
 */
export type Sources = ReadonlyMap<string, string>;

/** One replacement of text that must occur exactly once (or exactly `times` times). */
export interface Edit {
  file: string;
  find: string;
  replace: string;
  times?: number;
}

const INCLUDE = /^\s*include\s+"([^"]+)"\s*;/gm;
const LIBRARY = "circomlib/";

/** The project's own circuits: the mains and lib/, as they are on disk now. */
export function readSources(folder = circuitsFolder): Map<string, string> {
  const files = (under: string) =>
    existsSync(join(folder, under)) ? readdirSync(join(folder, under)).map((name) => posix.join(under, name)) : [];
  const found = [...files("."), ...files("lib")].filter((path) => path.endsWith(".circom")).sort();
  return new Map(found.map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

/** A copy of `sources` with the edits applied. Throws if a text does not occur as often as expected. */
export function edit(sources: Sources, edits: readonly Edit[]): Map<string, string> {
  const result = new Map(sources);
  for (const { file, find, replace, times = 1 } of edits) {
    const before = readSource(result, file);
    const parts = before.split(find);
    if (parts.length !== times + 1)
      throw new Error(`${file}: "${find}" occurs ${parts.length - 1} times, expected ${times}; adapt the attack`);
    result.set(file, parts.join(replace));
  }
  return result;
}

/** The text of one file, from the project or from the installed circomlib. */
function readSource(sources: Sources, path: string): string {
  const text = sources.get(path) ?? library(path);
  if (text === undefined) throw new Error(`no circom source ${path}`);
  return text;
}

const libraryFiles = new Map<string, string | undefined>();

/** A file of circomlib, read once. */
function library(path: string): string | undefined {
  if (!path.startsWith(LIBRARY)) return undefined;
  if (!libraryFiles.has(path)) {
    const installed = join(circomLibraryFolder(), path);
    const text = existsSync(installed) ? readFileSync(installed, "utf8") : undefined;
    libraryFiles.set(path, text);
  }
  return libraryFiles.get(path);
}

const includes = new Map<string, string[]>();

/** Files that a text includes. Cached, because the same texts are requested a thousand times. */
function includesOf(text: string): string[] {
  const known = includes.get(text);
  if (known !== undefined) return known;
  const found = [...text.matchAll(INCLUDE)].map((match) => match[1] as string);
  includes.set(text, found);
  return found;
}

/** A main's path, and the sources that contain it. `main` is a path or a text. */
export const locate = (sources: Sources, main: string): { all: Sources; path: string } =>
  main.endsWith(".circom")
    ? { all: sources, path: main }
    : { all: new Map(sources).set("main.circom", main), path: "main.circom" };

/** Every file that `main` needs, with its text, in the order of discovery. */
export function closure(sources: Sources, main: string): Map<string, string> {
  const found = new Map<string, string>();
  const queue = [main];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (found.has(path)) continue;
    const text = readSource(sources, path);
    found.set(path, text);
    for (const include of includesOf(text))
      queue.push(include.startsWith(LIBRARY) ? include : posix.join(dirname(path), include));
  }
  return found;
}

const hashes = new Map<string, string>();

/** Names a set of files by path and content. */
export function hashOf(files: Sources, settings: readonly string[]): string {
  const paths = [...files.keys()].sort();
  const parts = paths.map((path) => {
    const text = files.get(path) as string;
    let hash = hashes.get(text);
    if (hash === undefined) {
      hash = createHash("sha256").update(text).digest("hex");
      hashes.set(text, hash);
    }
    return [path, hash];
  });
  return createHash("sha256")
    .update(JSON.stringify([settings, parts]))
    .digest("hex");
}
