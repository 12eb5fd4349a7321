// The child processes of `npm run dev`. They exit with it, are restarted after a change or a crash, and each write
// their output to a file.
import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { CommandError } from "@sotto/command/command";

const RUNS_WITH_PARENT = join(import.meta.dirname, "child.mjs");
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
/** A process that takes longer to exit is killed, ms. */
const END_MS = 10_000;
/** How many lines of output an error shows. */
const SHOWN_LINES = 5;

/** The environment without settings that are meant for another program. */
export const cleanEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SOTTO_")));

export interface ChildProgram<Ready> {
  readonly name: string;
  /** Path of the program. */
  readonly program: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Sent over the IPC channel, because it contains secrets that must not be in the environment. */
  readonly order?: object | undefined;
  readonly logFile: string;
  /** Parses a line of output, or a message, and returns the program's report once it has started. */
  readonly ready: (said: { line?: string; message?: unknown }) => Ready | undefined;
  /** Receives each line of standard error, and each message. */
  readonly onSaid?: ((said: { line?: string; message?: unknown }) => void) | undefined;
  /** Receives a line for the user if the process ends unexpectedly. */
  readonly tell: (line: string) => void;
}

/** A program that runs until `stop`. */
export class Child<Ready> {
  readonly #program: ChildProgram<Ready>;
  #process: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #retry: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;
  #wanted = false;

  constructor(program: ChildProgram<Ready>) {
    this.#program = program;
  }

  /** @throws CommandError CHILD_FAILED if the program ends before it has started */
  start(): Promise<Ready> {
    this.#wanted = true;
    return this.#spawn();
  }

  /** Ends the program and starts it again. @throws CommandError CHILD_FAILED */
  async restart(): Promise<Ready> {
    await this.stop();
    return this.start();
  }

  async stop(): Promise<void> {
    this.#wanted = false;
    clearTimeout(this.#retry);
    const running = this.#process;
    running?.kill("SIGTERM");
    const kill = setTimeout(() => running?.kill("SIGKILL"), END_MS);
    await this.#ended;
    clearTimeout(kill);
  }

  async #spawn(): Promise<Ready> {
    const { name, program, environment, order, logFile, ready, onSaid, tell } = this.#program;
    mkdirSync(dirname(logFile), { recursive: true });
    const log = createWriteStream(logFile, { flags: "a", mode: 0o600 });
    const child = spawn(process.execPath, [RUNS_WITH_PARENT, program], {
      env: environment,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      serialization: "advanced",
    });
    this.#process = child;
    const last: string[] = [];
    createInterface({ input: child.stdout! }).on("line", (line) => log.write(`${line}\n`));
    let resolveStart: (ready: Ready) => void = () => {};
    let rejectStart: (error: Error) => void = () => {};
    const started = new Promise<Ready>((resolve, reject) => {
      resolveStart = resolve;
      rejectStart = reject;
    });
    let isReady = false;
    const said = (what: { line?: string; message?: unknown }) => {
      onSaid?.(what);
      const found = isReady ? undefined : ready(what);
      if (found === undefined) return;
      isReady = true;
      this.#retryMs = FIRST_RETRY_MS;
      resolveStart(found);
    };
    createInterface({ input: child.stderr! }).on("line", (line) => {
      log.write(`${line}\n`);
      last.splice(0, Math.max(0, last.length - SHOWN_LINES + 1));
      last.push(line);
      said({ line });
    });
    child.on("message", (message) => said({ message }));
    if (order !== undefined) child.send(order, () => {});
    this.#ended = new Promise((resolve) => {
      const end = (how: string) => {
        log.end();
        if (isReady && this.#wanted) {
          tell(`the ${name} ended (${how}); it starts again in ${this.#retryMs / 1000} s. Its log: ${logFile}`);
          this.#startLater();
        }
        const reason = last.length === 0 ? how : last.join("\n");
        rejectStart(new CommandError("CHILD_FAILED", `the ${name} did not start: ${reason}`, { inLines: true }));
        resolve();
      };
      child.once("error", (error) => end(error.message));
      child.once("close", (code, signal) => end(signal ?? `exit code ${code}`));
    });
    return started;
  }

  #startLater(): void {
    this.#retry = setTimeout(() => {
      this.#spawn().catch((error: Error) => {
        if (!this.#wanted) return;
        this.#program.tell(`${error.message}; it starts again in ${this.#retryMs / 1000} s`);
        this.#startLater();
      });
    }, this.#retryMs);
    this.#retryMs = Math.min(MAX_RETRY_MS, this.#retryMs * 2);
  }
}
