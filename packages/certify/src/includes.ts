import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { CertifyError } from "./errors.ts";

const INCLUDE = /(?:^|;)\s*include\s*"([^"]+)"/g;
const COMMENT = /\/\*[\s\S]*?\*\/|\/\/.*/g;

/**
 * A circom source and all files it includes, itself first. Includes are resolved as circom does: relative to the
 * including file, then in the library folders.
 * @throws CertifyError INPUT_INVALID if a file is missing
 */
export function sourceFiles(main: string, libraries: readonly string[]): string[] {
  const found = new Set<string>();
  const queue = [resolve(main)];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    for (const [, include] of readFileSync(file, "utf8").replace(COMMENT, "").matchAll(INCLUDE)) {
      const candidates = [dirname(file), ...libraries].map((folder) => resolve(folder, include as string));
      const path = candidates.find((candidate) => existsSync(candidate) && statSync(candidate).isFile());
      if (path === undefined)
        throw new CertifyError(
          `${file} includes "${include}", which is neither beside it nor in a library: name the library's folder with -l`,
          "INPUT_INVALID",
        );
      queue.push(path);
    }
  }
  return [...found];
}
