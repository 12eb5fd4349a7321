// Copies the code of a page, unchanged except for the ports, to a folder in a project outside the checkout, and runs it
// there.
//
// Every block of TypeScript, JavaScript, JSON and shell belongs to a test: it begins with the name of its file
// (`// pay.ts`), is a shell command, or follows a line that states why it does not run here: `<!-- not run here: why
// -->`.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "@sotto/server";
import { BASE_ENVIRONMENT } from "@sotto/test-kit/environment";
import type { World } from "./world.ts";

const root = join(import.meta.dirname, "..", "..");
const run = promisify(execFile);
const BLOCK = /(?:^<!-- not run here: (.+) -->\n\n)?^```(ts|js|json|sh)\n([\s\S]*?)^```$/gm;
const NAME = /^\/\/ ([\w-]+\.m?[tj]s)\b/;
/** The first port of `npm run dev`, and the ports on which the pages' servers listen. */
const USUAL_PORT = 4020;
const SERVER_PORTS = /127\.0\.0\.1:300[01]\b/g;

export class Guide {
  readonly folder: string;
  /** Code blocks that have no file name, are not shell commands and are not marked as not run. */
  readonly unnamed: readonly string[];
  /** The environment that the page's shell commands have exported. */
  environment: Record<string, string> = {};
  /** The port of the page's servers. */
  readonly #port: number;
  readonly #files = new Map<string, string>();
  readonly #commands: string[] = [];
  readonly #used = new Set<string>();
  readonly #world: World;

  /**
   * @param page path in the checkout @param suffix suffix of the folder, for a second copy of a page
   */
  static async open(world: World, page: string, suffix = ""): Promise<Guide> {
    const folder = join(world.projects, "guides", page.replaceAll(/[/.]/g, "-") + suffix);
    return new Guide(world, folder, page, await freePort("127.0.0.1"));
  }

  private constructor(world: World, folder: string, page: string, port: number) {
    this.#world = world;
    this.#port = port;
    this.folder = folder;
    mkdirSync(folder);
    // A reader's project; without the file, npx would run programs in the folder of the project above.
    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
    const unnamed: string[] = [];
    for (const [, reason, language, code = ""] of this.#read(page).matchAll(BLOCK)) {
      const name = NAME.exec(code)?.[1];
      if (reason !== undefined) continue;
      if (language === "sh") this.#commands.push(code);
      else if (name === undefined) unnamed.push(code);
      else this.write(name, code);
    }
    this.unnamed = unnamed;
  }

  /** A page with the ports of this guide. */
  #read(page: string): string {
    const { port } = this.#world;
    const text = readFileSync(join(root, page), "utf8")
      .replaceAll(/127\.0\.0\.1:402([0-6])\b/g, (_, offset) => `127.0.0.1:${port + Number(offset)}`)
      .replaceAll(SERVER_PORTS, `127.0.0.1:${this.#port}`);
    if (port !== USUAL_PORT && text.includes(`127.0.0.1:${USUAL_PORT}`)) throw new Error("a port was not replaced");
    return text;
  }

  /** Adds a file of another page, unless this page has one of the same name. */
  borrow(page: string, name: string): void {
    const code = [...this.#read(page).matchAll(BLOCK)].map(([, , , text = ""]) => text);
    const found = code.find((text) => NAME.exec(text)?.[1] === name);
    if (found === undefined) throw new Error(`${page} has no ${name}`);
    if (!this.#files.has(name)) this.provide(name, found);
  }

  /** The page's code blocks without a language: examples of commands and outputs. */
  plain(page: string): string[] {
    return [...this.#read(page).matchAll(/^```\n([\s\S]*?)^```$/gm)].map(([, text = ""]) => text);
  }

  /** The page's named files, and the files that a test added. */
  get names(): readonly string[] {
    return [...this.#files.keys()];
  }

  write(name: string, text: string): void {
    this.#files.set(name, text);
    writeFileSync(join(this.folder, name), text);
  }

  /** Adds a file that is not part of the page. */
  provide(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  /** Named files that were neither run nor imported by a program that ran. */
  unused(): string[] {
    return this.names.filter((name) => !this.#used.has(name));
  }

  #use(name: string): void {
    if (this.#used.has(name)) return;
    this.#used.add(name);
    for (const [, other = ""] of (this.#files.get(name) ?? "").matchAll(/ from "\.\/([\w-]+\.[tj]s)"/g))
      this.#use(other);
  }

  /** @returns the compiler's errors; an empty string if there are none */
  async complaints(): Promise<string> {
    const compilerOptions = { strict: true, noEmit: true, module: "nodenext", target: "es2023", skipLibCheck: true };
    const more = { allowImportingTsExtensions: true, types: ["node"], lib: ["es2023", "dom"] };
    const files = this.names.filter((name) => name.endsWith(".ts"));
    const config = JSON.stringify({ compilerOptions: { ...compilerOptions, ...more }, files });
    writeFileSync(join(this.folder, "tsconfig.json"), config);
    const compiler = join(this.folder, "..", "node_modules", "typescript", "bin", "tsc");
    return run(process.execPath, [compiler, "-p", this.folder]).then(
      () => "",
      (error: { stdout: string }) => error.stdout,
    );
  }

  /** Runs the page's shell commands in order in one shell, and keeps the variables that they export. */
  async runCommands(): Promise<void> {
    const script = `set -eu\n${this.#commands.join("\n")}\nenv -0 > .environment`;
    for (const name of this.names) if (this.#commands.some((command) => command.includes(name))) this.#use(name);
    await run("bash", ["-c", script], this.#options());
    const entries = readFileSync(join(this.folder, ".environment"), "utf8").split("\0").filter(Boolean);
    this.environment = Object.fromEntries(entries.map((entry) => entry.split(/=(.*)/s).slice(0, 2)));
  }

  /** Runs a command line in the page's folder. The installed programs are on the PATH. */
  shell(line: string, variables: Readonly<Record<string, string>> = {}): Promise<Ended> {
    const { cwd, env } = this.#options();
    return ended(run("bash", ["-c", line], { cwd, env: { ...env, ...variables } }));
  }

  #options() {
    const installed = join(this.folder, "..", "node_modules", ".bin");
    const path = { PATH: [installed, dirname(process.execPath), BASE_ENVIRONMENT["PATH"]].join(delimiter) };
    // Its home is where downloaded files are cached.
    const env = { ...BASE_ENVIRONMENT, ...path, HOME: join(this.folder, ".."), ...this.environment };
    return { cwd: this.folder, env };
  }

  /** Runs a file that exits on its own. @param input its standard input */
  async attempt(name: string, input: string | Promise<string> = ""): Promise<{ code: number; output: string }> {
    this.#use(name);
    const running = run(process.execPath, [name], this.#options());
    running.child.stdin?.on("error", () => undefined);
    void Promise.resolve(input).then((text) => running.child.stdin?.end(text));
    const { code, stdout, stderr } = await ended(running);
    return { code, output: stdout + stderr };
  }

  /** @param input its standard input @returns its output @throws with its output if it fails */
  async run(name: string, input: string | Promise<string> = ""): Promise<string> {
    const { code, output } = await this.attempt(name, input);
    if (code !== 0) throw new Error(`${name} ended with ${code}:\n${output}`);
    return output;
  }

  /** Runs a file that listens on PORT, until `use` has finished. */
  async serving<T>(name: string, use: (url: string) => Promise<T>): Promise<T> {
    this.#use(name);
    const { cwd, env } = this.#options();
    const stdio = ["ignore", "ignore", "inherit"] as const;
    const child = spawn(process.execPath, [name], {
      cwd,
      env: { ...env, PORT: String(this.#port) },
      stdio: [...stdio],
    });
    const exited = new Promise((resolve) => child.once("exit", resolve));
    try {
      const url = `http://127.0.0.1:${this.#port}`;
      await answering(child, url);
      return await use(url);
    } finally {
      child.kill("SIGKILL");
      await exited;
    }
  }
}

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The outcome of a program, which may have failed. */
const ended = (running: Promise<{ stdout: string; stderr: string }>): Promise<Ended> =>
  running.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: Ended) => ({ code, stdout, stderr }),
  );

/** Waits until something answers at a URL. @throws Error if the program exits first */
async function answering(child: ChildProcess, url: string): Promise<void> {
  for (;;) {
    const answers = await fetch(url).then(
      async (response) => response.text().then(() => true),
      () => false,
    );
    if (answers) return;
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    await sleep(50);
  }
}
