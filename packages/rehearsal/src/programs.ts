// Runs the commands of the copy as an operator types them, and shows them.
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { CommandError } from "@sotto/command/command";
import type { Lifetime } from "@sotto/command/lifetime";
import { clock, elapsed, Progress } from "@sotto/command/progress";
import { paint, type Screen, say, wrap } from "@sotto/command/terminal";

const SUPERVISE = join(import.meta.dirname, "supervise.mjs");
/** Interval between lines of progress if the output is not a terminal, ms. */
const LINE_MS = 60_000;
/** What is in front of a text below a command. */
const NOTE = "     ";
/** How many lines of output an error shows. */
const SHOWN_LINES = 12;

export type Variables = Readonly<Record<string, string>>;

export interface Result {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command of the copy. */
export interface Command {
  /** As an operator types it. */
  readonly typed: string;
  /** Arguments of Node. */
  readonly argv: readonly string[];
}

const quoted = (arg: string): string => (/[\s"]/.test(arg) ? `"${arg}"` : arg);

/** `npm run TASK -- ARGS` */
export const npmRun = (task: string, ...args: readonly string[]): Command => ({
  typed: ["npm run", task, ...(args.length === 0 ? [] : ["--"]), ...args.map(quoted)].join(" "),
  argv: ["scripts/run.mjs", task, ...args],
});

export class Programs {
  readonly #screen: Screen;
  readonly #lifetime: Lifetime;
  readonly #folder: string;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #running = new Set<ChildProcess>();

  /**
   * @param folder the copy of the checkout, in which the commands run
   * @param shared variables of every command
   */
  constructor(screen: Screen, lifetime: Lifetime, folder: string, shared: Variables) {
    this.#screen = screen;
    this.#lifetime = lifetime;
    this.#folder = folder;
    // Settings and modes of the shell that started the rehearsal are not those of the operator.
    const own = Object.entries(process.env).filter(([name]) => !/^(SOTTO_|NODE_ENV$)/.test(name));
    this.#environment = { ...Object.fromEntries(own), ...shared };
    lifetime.atEnd(() => Promise.all([...this.#running].map((child) => this.#end(child))));
  }

  /** Runs a command. @throws CommandError REHEARSAL_FAILED if it fails */
  async run(command: Command, variables: Variables = {}): Promise<Result> {
    say(this.#screen, `$ ${command.typed}`);
    const start = performance.now();
    const result = await this.#complete(command, variables);
    if (result.status !== 0) throw this.#failure(`${command.typed} failed`, result);
    this.note(clock((performance.now() - start) / 1000));
    return result;
  }

  /**
   * Runs a command that has to be refused.
   * @param what what the command tries
   * @param error the error's code, and a part of its message for a code with several causes
   * @throws CommandError REHEARSAL_FAILED if it succeeds, or fails otherwise
   */
  async refused(
    what: string,
    [code, text = code]: readonly [code: string, text?: string],
    command: Command,
    variables: Variables = {},
  ): Promise<void> {
    const result = await this.#complete(command, variables);
    if (result.status === 0) throw this.#failure(`not refused: ${what}: ${command.typed}`, result);
    const isExpected = new RegExp(`\\b${code}\\b`).test(result.stderr) && result.stderr.includes(text);
    if (!isExpected) throw this.#failure(`${what}: expected ${code}, ${text}: ${command.typed}`, result);
    say(this.#screen, `${paint(this.#screen, "green", "refused")} ${what}: ${code}`);
  }

  /**
   * Starts a server.
   * @param ready matches the line that it writes once it listens
   * @returns the first group of that line
   * @throws CommandError REHEARSAL_FAILED if it ends before
   */
  async start(command: Command, ready: RegExp, variables: Variables): Promise<string> {
    say(this.#screen, `$ ${command.typed}`);
    const child = this.#spawn(command, variables);
    const output: string[] = [];
    return new Promise<string>((resolve, reject) => {
      const read = (line: string) => {
        output.push(line);
        const found = ready.exec(line)?.[1];
        if (found !== undefined) resolve(found);
      };
      for (const stream of [child.stdout!, child.stderr!]) createInterface({ input: stream }).on("line", read);
      child.once("close", (status) =>
        reject(this.#failure(`${command.typed} ended`, { status: status ?? 1, stdout: "", stderr: output.join("\n") })),
      );
    });
  }

  #failure(what: string, { stdout, stderr }: Result): CommandError {
    const last = `${stdout}\n${stderr}`.trim().split("\n").slice(-SHOWN_LINES).join("\n");
    return new CommandError("REHEARSAL_FAILED", `${what}\n${last}`, { inLines: true });
  }

  #spawn({ argv }: Command, variables: Variables): ChildProcess {
    this.#lifetime.signal.throwIfAborted();
    const child = spawn(process.execPath, [SUPERVISE, process.execPath, ...argv], {
      cwd: this.#folder,
      env: { ...this.#environment, ...variables },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.#running.add(child);
    child.once("close", () => this.#running.delete(child));
    return child;
  }

  async #end(child: ChildProcess): Promise<void> {
    if (!this.#running.has(child)) return;
    const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
    child.kill("SIGTERM");
    await closed;
  }

  /** Runs a command to its end, and shows the last line that it wrote. */
  async #complete(command: Command, variables: Variables): Promise<Result> {
    const child = this.#spawn(command, variables);
    const start = performance.now();
    let [stdout, stderr, last] = ["", "", ""];
    child.stdout!.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
      last = text.trim().split("\n").at(-1) || last;
    });
    const progress = new Progress(process.stdout);
    const line = () => (last === "" ? "" : `${last.replace(/^(ceremony|sotto): /, "")} (${elapsed(start)})`);
    const timer = process.stdout.isTTY ? undefined : setInterval(() => last !== "" && this.note(line()), LINE_MS);
    if (timer === undefined) progress.show(() => `${NOTE}${line()}`);
    try {
      const status = await new Promise<number>((resolve, reject) => {
        child.once("error", reject);
        child.once("close", (code) => resolve(code ?? 1));
      });
      this.#lifetime.signal.throwIfAborted();
      return { status, stdout, stderr };
    } finally {
      clearInterval(timer);
      progress.stop();
    }
  }

  /** Shows a text below a command. */
  note(text: string): void {
    for (const line of wrap(text, this.#screen.width - NOTE.length))
      this.#screen.write(`${NOTE}${paint(this.#screen, "dim", line)}\n`);
  }
}
