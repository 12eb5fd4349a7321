// Writes the code of a documentation page to files, unchanged, then type-checks and runs them.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { BASE_ENVIRONMENT } from "./environment.ts";
import { freePort } from "./ports.ts";

const root = join(import.meta.dirname, "..", "..");

/** The page's TypeScript blocks that begin with a file name, by that name. */
function namedBlocks(path: string): Map<string, string> {
  const text = readFileSync(join(root, path), "utf8");
  const blocks = [...text.matchAll(/^```ts\n(\/\/ ([\w-]+\.ts)\n[\s\S]*?)^```$/gm)];
  return new Map(blocks.map(([, code = "", name = ""]) => [name, code]));
}

const answers = (url: string): Promise<boolean> =>
  fetch(url)
    .then((response) => response.text())
    .then(
      () => true,
      () => false,
    );

/** The code of one page, written to a folder in a package. */
export class DocumentedCode {
  readonly names: readonly string[];
  readonly #folder: string;

  /**
   * @param home folder of the package whose dependencies the code imports @param source path of a page whose blocks
   * begin with their file names, or the files by name
   */
  constructor(home: string, source: string | ReadonlyMap<string, string>) {
    const blocks = typeof source === "string" ? namedBlocks(source) : source;
    this.names = [...blocks.keys()];
    mkdirSync(join(home, "build"), { recursive: true });
    this.#folder = mkdtempSync(join(home, "build", "docs-"));
    this.write("package.json", JSON.stringify({ type: "module" }));
    for (const [name, code] of blocks) this.write(name, code);
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.#folder, name), text);
  }

  path(name: string): string {
    return join(this.#folder, name);
  }

  /** @returns the compiler's errors; an empty string if there are none */
  complaints(): string {
    const compilerOptions = { strict: true, noEmit: true, module: "nodenext", target: "es2023", skipLibCheck: true };
    const more = { allowImportingTsExtensions: true, types: ["node"], lib: ["es2023", "dom"] };
    this.write(
      "tsconfig.json",
      JSON.stringify({ compilerOptions: { ...compilerOptions, ...more }, files: this.names }),
    );
    try {
      return execFileSync(join(root, "node_modules", ".bin", "tsc"), ["-p", this.#folder], { encoding: "utf8" });
    } catch (error) {
      return (error as { stdout: string }).stdout;
    }
  }

  /** Runs a file that exits on its own. @returns its output */
  run(name: string, env: Record<string, string>): string {
    const settings = { env: { ...BASE_ENVIRONMENT, ...env }, encoding: "utf8" } as const;
    return execFileSync(process.execPath, [this.path(name)], settings);
  }

  /** Runs a file that listens on PORT, until `use` has finished. */
  async serving<T>(name: string, use: (url: string) => Promise<T>): Promise<T> {
    const port = await freePort();
    const env = { ...BASE_ENVIRONMENT, PORT: String(port) };
    const child = spawn(process.execPath, [this.path(name)], { env, stdio: ["ignore", "ignore", "inherit"] });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    try {
      const url = `http://localhost:${port}`;
      while (!(await answers(url))) {
        if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`);
        await sleep(50);
      }
      return await use(url);
    } finally {
      child.kill("SIGKILL");
      await ended;
    }
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
