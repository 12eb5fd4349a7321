import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { CommandError } from "@sotto/command/command";
import { root } from "./paths.ts";

const INCLUDE = /^\s*include\s+"([^"]+)"\s*;/gm;

/**
 * A circom source and all files it includes, itself first. Includes are resolved as circom does: relative to the
 * including file, then in the library folders.
 * @throws CommandError INCLUDE_MISSING
 */
export function sourceFiles(main: string, libraries: string[]): string[] {
  const found = new Set<string>();
  const queue = [main];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    for (const [, include] of readFileSync(file, "utf8").matchAll(INCLUDE)) {
      const candidates = [dirname(file), ...libraries].map((folder) => join(folder, include as string));
      const path = candidates.find(existsSync);
      if (path === undefined)
        throw new CommandError(
          "INCLUDE_MISSING",
          `${relative(root, file)} includes "${include}", which does not exist`,
        );
      queue.push(path);
    }
  }
  return [...found];
}

/**
 * Hash of a compilation's inputs: source contents, and `settings` (compiler, flags). It does not depend on library paths.
 */
export function sourceHash(main: string, libraries: string[], settings: string[]): string {
  const hash = createHash("sha256").update(JSON.stringify(settings));
  const contents = sourceFiles(main, libraries).map((file) =>
    createHash("sha256").update(readFileSync(file)).digest("hex"),
  );
  for (const content of contents.sort()) hash.update(content);
  return hash.digest("hex");
}
