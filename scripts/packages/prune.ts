// node ../../scripts/packages/prune.ts, in the folder of a package: removes the files in dist whose source no longer
// exists. The compiler and turbo's cache only add and overwrite files, so a removed module would stay in dist and be
// published. The other files stay in place, because a running program may import them later.
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** @returns the files in `folder`/dist without a source in `folder`/src, relative to dist */
export function staleFiles(folder: string): string[] {
  const dist = join(folder, "dist");
  if (!existsSync(dist)) return [];
  return readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(dist.length + 1))
    .filter((path) => !existsSync(join(folder, "src", path.replace(/(?:\.d\.ts|\.js)(?:\.map)?$/, ".ts"))))
    .sort();
}

export function prune(folder: string): void {
  for (const path of staleFiles(folder)) rmSync(join(folder, "dist", path));
}

if (import.meta.main) prune(process.cwd());
