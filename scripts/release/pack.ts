// Packs every public package as it would be published. pnpm replaces `workspace:*` with the version of the sibling
// package, and the same files always produce the same bytes.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { unpack } from "@publint/pack";
import { CommandError } from "@sotto/command/command";
import { root } from "@sotto/keys/circuits/paths";

/** The part of a package.json that the release and its tests read. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly license?: string;
  readonly repository?: { readonly url: string; readonly directory: string };
  readonly engines?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, { readonly types: string; readonly default: string }>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

export interface PackedPackage {
  readonly name: string;
  readonly version: string;
  /** Its folder, from the root of the checkout: `packages/client`. */
  readonly folder: string;
  /** Path of the tarball. */
  readonly tarball: string;
  /** Bytes of the tarball. */
  readonly size: number;
  /** Subresource Integrity of the tarball, SHA-512. */
  readonly integrity: string;
  /** The package.json in the tarball, which differs from the one in the folder. */
  readonly manifest: Manifest;
  /** Paths in the tarball. */
  readonly files: readonly string[];
}

const HOOK = join(import.meta.dirname, "manifest-hook.mjs");
/** pnpm lists every file of a package. */
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const run = promisify(execFile);

/** @param folder from the root of the checkout */
export const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Manifest;

/** @returns the folders of the packages that are published, from the root of the checkout */
export const publicFolders = (): string[] =>
  readdirSync(join(root, "packages"))
    .map((name) => join("packages", name))
    .filter((folder) => readManifest(folder).private !== true)
    .sort();

/**
 * @param names the names of packages; those that are not published are ignored
 * @returns the folders of these packages and of their dependencies among the published packages, from the root of the
 *   checkout
 */
export function foldersWithDependencies(names: readonly string[]): string[] {
  const all = new Map(publicFolders().map((folder) => [readManifest(folder).name, folder]));
  const found = new Set<string>();
  const add = (name: string) => {
    const folder = all.get(name);
    if (folder === undefined || found.has(folder)) return;
    found.add(folder);
    Object.keys(readManifest(folder).dependencies ?? {}).forEach(add);
  };
  names.forEach(add);
  return [...found].sort();
}

/**
 * Packs public packages, which must be built.
 * @param destination folder for the tarballs; created if missing
 * @param folders the folders of the packages, from the root of the checkout; default: all public packages
 * @throws CommandError PACK_FAILED
 */
export function packAll(destination: string, folders: readonly string[] = publicFolders()): Promise<PackedPackage[]> {
  mkdirSync(destination, { recursive: true });
  return Promise.all(folders.map((folder) => pack(folder, destination)));
}

/** @param folder from the root of the checkout @throws CommandError PACK_FAILED */
async function pack(folder: string, destination: string): Promise<PackedPackage> {
  const args = ["pack", "--json", "--pack-destination", destination, `--config.pnpmfile=${HOOK}`];
  const output = await run("pnpm", args, { cwd: join(root, folder), maxBuffer: MAX_OUTPUT_BYTES }).catch((error) => {
    const { stderr, message } = error as { stderr?: string; message: string };
    throw new CommandError("PACK_FAILED", `pnpm could not pack ${folder}: ${stderr || message}`, { inLines: true });
  });
  const { filename, files } = JSON.parse(output.stdout) as { filename: string; files: { path: string }[] };
  const bytes = readFileSync(filename);
  const manifest = await readPackedManifest(bytes);
  return {
    name: manifest.name,
    version: manifest.version,
    folder,
    tarball: filename,
    size: bytes.length,
    integrity: `sha512-${createHash("sha512").update(bytes).digest("base64")}`,
    manifest,
    files: files.map(({ path }) => path).sort(),
  };
}

async function readPackedManifest(tarball: Buffer): Promise<Manifest> {
  const { files, rootDir } = await unpack(tarball);
  const file = files.find(({ name }) => name === `${rootDir}/package.json`);
  if (file === undefined) throw new CommandError("PACK_FAILED", "a tarball has no package.json");
  return JSON.parse(Buffer.from(file.data).toString("utf8")) as Manifest;
}
