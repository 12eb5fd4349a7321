// node ../../scripts/packages/prune.ts [BUNDLE...], in the folder of a package: removes the files in dist whose source no
// longer exists, and all scripts but the bundles if the build bundles the modules. The compiler and turbo's cache only add
// and overwrite files, so a removed module would stay in dist and be published. The other files stay in place, because a
// running program may import them later.
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

const OUTPUT = /(\.d\.ts|\.js)(?:\.map)?$/;

/**
 * @param bundles names of the only scripts in dist, without `.js`; default: each module has its own
 * @returns the files in `folder`/dist without a source in `folder`/src, relative to dist, and the scripts of other modules
 */
export function staleFiles(folder: string, bundles: readonly string[] = []): string[] {
  const dist = join(folder, "dist");
  if (!existsSync(dist)) return [];
  return readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(dist.length + 1))
    .filter((path) => {
      const [name, kind] = [path.replace(OUTPUT, ""), OUTPUT.exec(path)?.[1]];
      if (bundles.length > 0 && kind === ".js" && !bundles.includes(name)) return true;
      return !existsSync(join(folder, "src", kind === undefined ? path : `${name}.ts`));
    })
    .sort();
}

export function prune(folder: string, bundles?: readonly string[]): void {
  for (const path of staleFiles(folder, bundles)) rmSync(join(folder, "dist", path));
}

if (import.meta.main) prune(process.cwd(), process.argv.slice(2));
