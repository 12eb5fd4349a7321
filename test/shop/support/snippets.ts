// Code blocks of documents: written into files inside of the checkout, whose packages they import, type-checked, run.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect } from "chai";

const root = join(import.meta.dirname, "..", "..", "..");
const START_MS = 30_000;

/** TypeScript blocks that begin with the name of their file. */
export function namedBlocks(path: string): Map<string, string> {
  const text = readFileSync(join(root, path), "utf8");
  const blocks = [...text.matchAll(/^```ts\n(\/\/ ([\w-]+\.ts)\n[\s\S]*?)^```$/gm)];
  return new Map(blocks.map(([, code = "", name = ""]) => [name, code]));
}

export class Snippets {
  readonly folder: string;
  readonly names: readonly string[];

  constructor(blocks: ReadonlyMap<string, string>) {
    mkdirSync(join(root, ".sotto"), { recursive: true });
    this.folder = mkdtempSync(join(root, ".sotto", "docs-"));
    this.names = [...blocks.keys()];
    for (const [name, code] of blocks) this.write(name, code);
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Under the strictest types. */
  compile(): void {
    const compilerOptions = { strict: true, noEmit: true, module: "nodenext", target: "es2023", skipLibCheck: true };
    const more = { allowImportingTsExtensions: true, types: ["node"], lib: ["es2023", "dom"] };
    this.write(
      "tsconfig.json",
      JSON.stringify({ compilerOptions: { ...compilerOptions, ...more }, files: this.names }),
    );
    this.write("package.json", JSON.stringify({ type: "module" }));
    try {
      execFileSync(join(root, "node_modules", ".bin", "tsc"), ["-p", this.folder], { encoding: "utf8" });
    } catch (error) {
      expect.fail((error as { stdout: string }).stdout);
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/** As soon as it listens. */
export async function reach(url: string): Promise<Response> {
  for (const end = Date.now() + START_MS; ; await new Promise((resolve) => setTimeout(resolve, 50)))
    try {
      return await fetch(url);
    } catch (error) {
      if (Date.now() > end) throw error;
    }
}
