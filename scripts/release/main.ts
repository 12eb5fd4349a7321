// `npm run release`: packs every public package as it would be published, checks the tarballs, and serves them from a registry
// on this machine until Ctrl-C.
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { parseFlags, parsePort, runCommand } from "@sotto/command/command";
import { Lifetime } from "@sotto/command/lifetime";
import { assertFree } from "@sotto/command/ports";
import { Progress } from "@sotto/command/progress";
import { paint, screenOf, table } from "@sotto/command/terminal";
import { waitFor } from "@sotto/command/wait-for";
import { buildAll } from "@sotto/dev/build";
import { root } from "@sotto/keys/circuits/paths";
import { checkAll, unpublishable } from "./check.ts";
import { type PackedPackage, packAll } from "./pack.ts";
import { startRegistry } from "./registry.ts";
import { writeSboms } from "./sbom.ts";
import { applyChangesets } from "./version.ts";

const USAGE = `npm run release -- [version] [OPTIONS]: packs the public packages, checks them, serves them on this machine.

  version       turn the changesets into a version and a section of CHANGELOG.md, then exit
  --once        pack and check, then exit
  --port N      port of the registry; default 4873
  --no-build    do not build before packing
`;

const DEFAULT_PORT = "4873";
/** The files that a run creates. */
const folder = join(root, ".release");

interface Options {
  readonly help: boolean;
  readonly version: boolean;
  readonly once: boolean;
  readonly port: number;
  readonly build: boolean;
}

/** @throws CommandError UNKNOWN_OPTION, INVALID_PORT */
function parseReleaseOptions(args: string[]): Options {
  const [first, ...others] = args;
  const version = first === "version";
  const values = parseFlags("release", version ? others : args, {
    help: { type: "boolean", short: "h", default: false },
    once: { type: "boolean", default: false },
    port: { type: "string", default: DEFAULT_PORT },
    "no-build": { type: "boolean", default: false },
  });
  const { help, once } = values;
  return { help, version, once, port: parsePort(values.port), build: !values["no-build"] };
}

const progress = new Progress(process.stdout);
const lifetime = new Lifetime();
lifetime.signal.addEventListener("abort", () => progress.stop());

function listOf(packages: readonly PackedPackage[]): string {
  const rows = packages.map(({ name, version, size, files }) => [
    "",
    name,
    version,
    `${Math.ceil(size / 1024)} KB`,
    `${files.length} files`,
  ]);
  return table(rows);
}

async function release(): Promise<void> {
  const options = parseReleaseOptions(process.argv.slice(2));
  if (options.help) return void process.stdout.write(USAGE);
  if (options.version) return void console.log(`all public packages are ${applyChangesets()} now: review and commit`);
  if (!options.once) await assertFree({ registry: options.port });
  if (options.build) await buildAll("npm run release", progress, lifetime.signal);
  // Removes the tarballs of earlier versions.
  const tarballs = join(folder, "packages");
  rmSync(tarballs, { recursive: true, force: true });
  const packages = await waitFor(progress, "packing the public packages", () => packAll(tarballs));
  await waitFor(progress, "listing the dependencies", () => writeSboms(packages));
  await waitFor(progress, "checking the packages", (detail) => checkAll(packages, ({ name }) => detail(name)));
  progress.print(`\n${listOf(packages)}`);
  progress.print(`  packed and checked ${packages.length} packages into .release/packages, each with its SBOM`);
  const reason = unpublishable(packages.map(({ manifest }) => manifest));
  if (reason !== undefined) progress.print(`  not ready for npm: ${reason}`);
  if (options.once) return;

  const registry = await startRegistry({ packages, port: options.port });
  lifetime.atEnd(() => registry.close());
  const screen = screenOf(process.stdout);
  progress.print(`  registry   ${paint(screen, "bold", registry.url)}`);
  progress.print(`  .npmrc     ${paint(screen, "bold", `@sotto:registry=${registry.url}/`)}`);
  progress.print("\nCreate a project with `npm run new`, or put the last line into the .npmrc of yours.");
  progress.show(() => (process.stdout.isTTY ? "serving, Ctrl-C ends it" : ""));
  await once(lifetime.signal, "abort");
}

await runCommand(() => lifetime.run(release));
