// Runs sotto with a separate home folder and only the given environment variables. `start`, and `run` with `process`
// set, run the built program as a process, which proves for real. Otherwise the same code runs in this process and
// forges proofs with the development keys' trapdoor, which saves more than a second per command. Every output is
// searched for secrets.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { SETS } from "@sotto/cli";
import { run } from "@sotto/cli-kit";
import { addMonths, bytesToHex, deriveKeys, MAX_SCHEDULE_MONTHS, monthAt } from "@sotto/protocol";
import { BASE_ENVIRONMENT } from "@sotto/test-kit/environment";
import { STOPS_AT } from "@sotto/test-kit/programs";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { TrapdoorProver } from "@sotto/test-world/trapdoor-prover";
import { seedFromWords } from "@sotto/wallet";
import { expect } from "chai";

const prover = new TrapdoorProver();
const BIN = join(import.meta.dirname, "..", "..", "..", "packages", "cli", "dist", "main.js");

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
  /** Called with each piece of output, including standard error. */
  readonly watch?: (text: string) => void;
  /** The signal that the program sends itself as soon as its output matches. */
  readonly stop?: { readonly at: RegExp; readonly signal: "SIGKILL" | "SIGSTOP" };
  readonly cwd?: string;
  /** Runs the command as a process. */
  readonly process?: boolean;
  /** The user's answer at the prompt; implies a terminal. */
  readonly answer?: string;
  /** The time of the command, ms; only in this process. */
  readonly time?: number;
}

/** Runs commands with one home folder. */
export class Cli {
  readonly folder = temporaryFolder("cli");
  readonly home = join(this.folder, "home");
  readonly env: Record<string, string>;
  /** Texts that must not appear in any output. */
  readonly #secrets: string[] = [];
  #cwd = this.folder;

  constructor(env: Readonly<Record<string, string>> = {}) {
    this.env = { ...env };
    for (const [name, value] of Object.entries(env))
      if (/KEY|PASS|SEED/.test(name)) this.#secrets.push(value.replace(/^0x/, ""));
  }

  /** Runs the commands in the folder of another instance, so that each can read the other's files. */
  sameFolder(other: Cli): void {
    this.#cwd = other.folder;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Starts a command without waiting until it exits. */
  start(args: readonly string[], { env = {}, input, watch, stop, cwd }: RunOptions = {}) {
    const before = stop === undefined ? [] : [STOPS_AT, stop.signal, stop.at.source];
    const child = spawn(process.execPath, [...before, BIN, ...args, "--home", this.home], {
      cwd: cwd ?? this.#cwd,
      env: { ...BASE_ENVIRONMENT, HOME: this.folder, ...this.env, ...env },
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString();
      watch?.(chunk.toString());
    });
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
      watch?.(chunk.toString());
    });
    child.stdin.on("error", () => undefined);
    child.stdin.end(input ?? "");
    const ended = new Promise<Ended>((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr })));
    return { child, ended };
  }

  async run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
    const outside = options.process === true || options.watch !== undefined;
    const ended = outside ? await this.start(args, options).ended : await this.#here(args, options);
    this.#search(args, ended);
    return ended;
  }

  async #here(args: readonly string[], { env = {}, input, answer, cwd, time }: RunOptions): Promise<Ended> {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const texts = [stdout, stderr].map((stream) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(Buffer.from(chunk)));
      return () => Buffer.concat(chunks).toString();
    });
    const terminal = answer !== undefined;
    if (terminal) {
      Object.assign(stdin, { isTTY: true });
      stderr.on("data", (chunk: Buffer) => {
        if (chunk.toString().endsWith("[y/N] ")) setImmediate(() => stdin.write(`${answer}\r`));
      });
    } else stdin.end(input ?? "");
    const streams = { stdin, stdout, stderr, terminal };
    const environment = { HOME: this.folder, ...this.env, ...env };
    const { signal } = new AbortController();
    const before = process.cwd();
    process.chdir(cwd ?? this.#cwd);
    const code = await run([...args, "--home", this.home], {
      streams,
      environment,
      signal,
      version: "0.0.0",
      clock: time === undefined ? undefined : () => time,
      prover,
      sets: SETS,
    }).finally(() => process.chdir(before));
    await new Promise((resolve) => setImmediate(resolve));
    return { code, stdout: texts[0]!(), stderr: texts[1]!() };
  }

  /** Runs a command that must succeed. @returns its output, parsed as JSON */
  async json<T = Record<string, never>>(args: readonly string[], options: RunOptions = {}): Promise<T> {
    const { code, stdout, stderr } = await this.run([...args, "--json"], options);
    expect(code, `sotto ${args.join(" ")}: ${stderr}`).to.equal(0);
    expect(stdout.endsWith("\n")).to.equal(true);
    return JSON.parse(stdout) as T;
  }

  /** Runs a command that must fail with this exit code. @returns the error code */
  async refused(args: readonly string[], exit: number, options: RunOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.run([...args, "--json"], options);
    expect(code, `sotto ${args.join(" ")}: ${stdout}${stderr}`).to.equal(exit);
    const last = stderr.trim().split("\n").at(-1)!;
    const { error } = JSON.parse(last) as { error: { code: string; exit: number; message: string } };
    expect(error.exit).to.equal(exit);
    expect(`${stdout}${stderr}`).to.not.match(/\n\s+at |node:internal/);
    return error.code;
  }

  /**
   * Adds the seed from the file and its derived keys to the secrets, in every form that an output could contain.
   * @param now ms; the keys of the months around this time are secrets, too
   */
  learnSecrets(now = Date.now()): void {
    const words = readFileSync(join(this.home, "seed"), "utf8").trim();
    const seed = seedFromWords(words);
    const { chainId, pool } = JSON.parse(readFileSync(join(this.home, "config.json"), "utf8"));
    const keys = deriveKeys(seed, { chainId: BigInt(chainId), pool });
    this.#secrets.push(words, words.split(" ").slice(0, 4).join(" "), bytesToHex(seed).slice(2));
    const ofMonths = [-1, ...Array(MAX_SCHEDULE_MONTHS + 1).keys()].map((count) =>
      keys.ofMonth(addMonths(monthAt(now), count)),
    );
    const viewing = [keys, ...ofMonths].flatMap(({ viewingKey, changeKey }) => [viewingKey, changeKey]);
    for (const key of [keys.spendingKey(0), ...viewing]) this.#secrets.push(key.toString(16), key.toString(10));
  }

  #search(args: readonly string[], { stdout, stderr }: Ended): void {
    if (args.includes("--show-secret") || (args.includes("--out") && args.includes("-"))) return;
    for (const secret of this.#secrets)
      expect(`${stdout}${stderr}`.includes(secret), `sotto ${args[0]} shows a secret`).to.equal(false);
  }
}
