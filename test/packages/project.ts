// An empty project outside the checkout: the packed packages are installed into it, and cannot reach the checkout's files.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The checkout. */
export const root = join(import.meta.dirname, "..", "..");
const rootManifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly devDependencies: Readonly<Record<string, string>>;
};

/** The part of a package.json the tests read. */
export interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports: Record<string, { types: string; default: string }>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** What a user of the package brings, in the versions it is tested with: frameworks, and Node's types with them. */
export function broughtBy({ peerDependencies = {}, devDependencies = {} }: Manifest): Record<string, string> {
  const peers = Object.entries(peerDependencies).map(([name, range]) => [name, devDependencies[name] ?? range]);
  return peers.length === 0
    ? {}
    : Object.fromEntries([...peers, ["@types/node", rootManifest.devDependencies["@types/node"]]]);
}

export interface Packed {
  /** Folder under packages/. */
  readonly folder: string;
  readonly manifest: Manifest;
  readonly tarball: string;
  /** Paths in the tarball. */
  readonly files: readonly string[];
}

export const packageFolders = (): string[] =>
  readdirSync(join(root, "packages")).filter((folder) => readManifest(folder).private !== true);

export const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(root, "packages", folder, "package.json"), "utf8"));

/** Packs a package the way it is published. */
export function pack(folder: string, destination: string): Packed {
  const output = execFileSync("pnpm", ["pack", "--json", "--pack-destination", destination], {
    cwd: join(root, "packages", folder),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { filename, files } = JSON.parse(output) as { filename: string; files: { path: string }[] };
  return { folder, manifest: readManifest(folder), tarball: filename, files: files.map(({ path }) => path) };
}

export class Project {
  readonly folder = mkdtempSync(join(tmpdir(), "sotto-project-"));

  /**
   * Installs one package. Its siblings come from their tarballs too; a package that imports what it does not declare
   * fails, because pnpm puts only declared dependencies in reach.
   */
  constructor(wanted: Packed, all: readonly Packed[]) {
    const name = wanted.manifest.name;
    const dependencies = { [name]: `file:${wanted.tarball}`, ...broughtBy(wanted.manifest) };
    this.write("package.json", JSON.stringify({ private: true, type: "module", dependencies }));
    const overrides = all.map(({ manifest, tarball }) => `  "${manifest.name}": "file:${tarball}"\n`).join("");
    this.write("pnpm-workspace.yaml", `overrides:\n${overrides}`);
    this.run("pnpm", "install", "--ignore-scripts", "--prefer-offline", "--reporter=silent");
  }

  write(path: string, text: string): void {
    mkdirSync(join(this.folder, path, ".."), { recursive: true });
    writeFileSync(join(this.folder, path), text);
  }

  /** Runs a command in the project. @returns what it printed @throws with its output where it fails */
  run(command: string, ...args: string[]): string {
    try {
      return execFileSync(command, args, { cwd: this.folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: error });
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The first ```js block of a package's README. */
export function readmeSnippet(folder: string): string {
  const text = readFileSync(join(root, "packages", folder, "README.md"), "utf8");
  const snippet = /^```js\n(.*?)^```$/ms.exec(text)?.[1];
  if (snippet === undefined) throw new Error(`packages/${folder}/README.md has no js block`);
  return snippet;
}
