// The packages, packed once, and registries that serve them. test/install uses this too.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atEnd } from "@sotto/test-kit/at-end";
import { foldersWithDependencies, type PackedPackage, packAll } from "../../../scripts/release/pack.ts";
import { type Registry, startRegistry } from "../../../scripts/release/registry.ts";

const folder = mkdtempSync(join(tmpdir(), "sotto-packed-"));
let packing: Promise<readonly PackedPackage[]> | undefined;
let serving: Promise<Registry> | undefined;
let servingSome: Promise<Registry> | undefined;

export const packages = (): Promise<readonly PackedPackage[]> => (packing ??= packAll(folder));

export const registry = (): Promise<Registry> =>
  (serving ??= packages().then((all) => startRegistry({ packages: all, port: 0 })));

/**
 * A registry with the packages on which a suite's package.json depends, and their dependencies. Others cannot be
 * installed, so a suite cannot use a package whose changes do not make it run again.
 * @param suite its folder; the same one in each call
 */
export const registryOf = (suite: string): Promise<Registry> => (servingSome ??= serve(suite));

async function serve(suite: string): Promise<Registry> {
  const { dependencies } = JSON.parse(readFileSync(join(suite, "package.json"), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const some = await packAll(join(folder, "some"), foldersWithDependencies(Object.keys(dependencies)));
  return startRegistry({ packages: some, port: 0 });
}

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

/** All entry points of packages, for example `@sotto/wallet/node`. */
export const entriesOf = (all: readonly PackedPackage[]): string[] =>
  all.flatMap(({ name, manifest }) => Object.keys(manifest.exports ?? {}).map((entry) => join(name, entry)));

atEnd(async () => {
  for (const one of [serving, servingSome]) await (await one)?.close();
  rmSync(folder, { recursive: true });
});
