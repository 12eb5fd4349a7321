// Shared by all suites: the packages, packed once, and a registry that serves them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atEnd } from "@sotto/test-kit/at-end";
import { type PackedPackage, packAll } from "../../../scripts/release/pack.ts";
import { type Registry, startRegistry } from "../../../scripts/release/registry.ts";

const folder = mkdtempSync(join(tmpdir(), "sotto-packed-"));
let packing: Promise<readonly PackedPackage[]> | undefined;
let serving: Promise<Registry> | undefined;

export const packages = (): Promise<readonly PackedPackage[]> => (packing ??= packAll(folder));

export const registry = (): Promise<Registry> =>
  (serving ??= packages().then((all) => startRegistry({ packages: all, port: 0 })));

/**
 * The dependencies of a project that uses these packages. The scope is configured to use the registry; a package
 * without a scope is specified by its tarball.
 */
export async function dependenciesOn(all: readonly PackedPackage[]): Promise<Record<string, string>> {
  const { url } = await registry();
  return Object.fromEntries(
    all.map(({ name, version }) => [name, name.startsWith("@") ? "*" : `${url}/${name}/-/${name}-${version}.tgz`]),
  );
}

/** All entry points of packages, for example `@sotto/client/node`. */
export const entriesOf = (all: readonly PackedPackage[]): string[] =>
  all.flatMap(({ name, manifest }) => Object.keys(manifest.exports ?? {}).map((entry) => join(name, entry)));

atEnd(async () => {
  await (await serving)?.close();
  rmSync(folder, { recursive: true });
});
