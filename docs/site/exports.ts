// The public entry points of the published packages, read from their package.json.
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

export const root = join(import.meta.dirname, "..", "..");

/** A module that a program can import. */
export interface EntryPoint {
  /** As programs import it: `@sotto/wallet/browser`. */
  readonly name: string;
  readonly package: string;
  /** The package's folder in the repository: `packages/client`. */
  readonly folder: string;
  /** Absolute path of its declarations, which the package's build writes. */
  readonly types: string;
}

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, { readonly types: string }>>;
}

/** @returns all entry points, ordered by name */
export function entryPoints(): EntryPoint[] {
  const found = globSync("packages/*/package.json", { cwd: root }).flatMap((path) => {
    const {
      name,
      private: isPrivate = false,
      exports = {},
    } = JSON.parse(readFileSync(join(root, path), "utf8")) as Manifest;
    if (isPrivate) return [];
    return Object.entries(exports).map(([subpath, { types }]) => ({
      name: `${name}${subpath.slice(1)}`,
      package: name,
      folder: dirname(path),
      types: join(root, dirname(path), types),
    }));
  });
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The name that TypeDoc derives from the path of an entry point. */
export const moduleName = ({ types }: EntryPoint): string =>
  relative(join(root, "packages"), types)
    .replace(/\.d\.ts$/, "")
    .replace(/\/index$/, "");
