// An empty project outside the checkout: the packed packages are installed into it, and cannot reach the checkout's files.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../../scripts/circuits/paths.ts";
import { type Manifest, type PackedPackage, readManifest } from "../../scripts/release/pack.ts";

const rootManifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly devDependencies: Readonly<Record<string, string>>;
};

/** What a user of the package brings, in the versions it is tested with: frameworks, and Node's types with them. */
export function broughtBy({ peerDependencies = {}, devDependencies = {} }: Manifest): Record<string, string> {
  const peers = Object.entries(peerDependencies).map(([name, range]) => [name, devDependencies[name] ?? range]);
  return peers.length === 0
    ? {}
    : Object.fromEntries([...peers, ["@types/node", rootManifest.devDependencies["@types/node"]]]);
}

export class Project {
  readonly folder = mkdtempSync(join(tmpdir(), "sotto-project-"));

  /**
   * Installs one package. Its siblings come from their tarballs too; a package that imports what it does not declare
   * fails, because pnpm puts only declared dependencies in reach.
   */
  constructor(wanted: PackedPackage, all: readonly PackedPackage[]) {
    const dependencies = { [wanted.name]: `file:${wanted.tarball}`, ...broughtBy(readManifest(wanted.folder)) };
    this.write("package.json", JSON.stringify({ private: true, type: "module", dependencies }));
    const overrides = all.map(({ name, tarball }) => `  "${name}": "file:${tarball}"\n`).join("");
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
  const text = readFileSync(join(root, folder, "README.md"), "utf8");
  const snippet = /^```js\n(.*?)^```$/ms.exec(text)?.[1];
  if (snippet === undefined) throw new Error(`${folder}/README.md has no js block`);
  return snippet;
}
