import { closeSync, openSync } from "node:fs";
import closeWithGrace from "close-with-grace";
import { hiddenSettings } from "../config/settings-file.ts";
import { codeOf } from "../errors.ts";
import type { ServiceLog } from "./log.ts";
import { redact } from "./redact.ts";

/** A server as a program: it runs until a signal. */
export interface Program {
  /** A line for the operator, printed to standard error: standard output contains one JSON object per line. */
  readonly says: string;
  /** Receives the reason of the shutdown. */
  readonly log: ServiceLog;
  /** Time for running requests to finish at shutdown, ms. */
  readonly shutdownMs: number;
  /** Stops accepting requests, and ends when the running ones have finished. */
  close(): Promise<void>;
  /** Reads the settings again and applies them, or logs why not. Never rejects. */
  reload(): Promise<unknown>;
}

/**
 * Runs a server until SIGINT or SIGTERM; on SIGHUP it reads its settings again. If the start fails, it prints one line and exits
 * with code 1.
 */
export async function runProgram(start: () => Promise<Program>): Promise<void> {
  const hangups = new Hangups();
  await endWith(async () => {
    const { says, log, shutdownMs, close, reload } = await start();
    let closing = false;
    const end = async (reason: { readonly err?: Error; readonly signal?: string }) => {
      closing = true;
      if (reason.err) log.fatal({ err: reason.err }, "shutting down after an uncaught error");
      else log.info({ signal: reason.signal }, "shutting down");
      await close();
    };
    const graceful = closeWithGrace({ delay: shutdownMs, logger: false, skip: ["SIGHUP"] }, async ({ err, signal }) =>
      end({ ...(err && { err }), signal: signal ?? "SIGHUP" }),
    );
    warnOfHidden(log);
    hangups.handle({
      terminalClosed: () => void graceful.close(),
      async reload() {
        if (closing) return;
        await reload();
        warnOfHidden(log);
      },
    });
    console.error(says);
  });
}

/** A changed line of the settings file has no effect while the environment has the same variable. */
function warnOfHidden(log: ServiceLog): void {
  try {
    const settings = hiddenSettings(process.env);
    if (settings.length === 0) return;
    log.warn({ code: "SETTINGS_HIDDEN", settings }, "the environment has other values of these settings of the file");
  } catch {
    // The file was changed since it was read; a reload says what is wrong with it.
  }
}

interface HangupActions {
  /** Called if the terminal of the program was closed. */
  terminalClosed(): void;
  reload(): Promise<void>;
}

/**
 * Handles SIGHUP from the start on, because it would end a process that does not handle it. A terminal that is closed sends it too: a
 * program that was started in it ends, and one without a terminal, as a service manager starts it, reads its settings again.
 */
class Hangups {
  readonly #hadTerminal = hasTerminal();
  #actions: HangupActions | undefined;
  #asked = false;
  #running = false;

  constructor() {
    process.on("SIGHUP", () => {
      this.#asked = true;
      void this.#run();
    });
  }

  /** Handles the signals that arrived during the start, and those that follow. */
  handle(actions: HangupActions): void {
    this.#actions = actions;
    void this.#run();
  }

  async #run(): Promise<void> {
    const actions = this.#actions;
    if (actions === undefined || this.#running) return;
    this.#running = true;
    // A signal during a reload may announce another change, so it reads once more.
    while (this.#asked) {
      this.#asked = false;
      if (this.#hadTerminal && !hasTerminal()) actions.terminalClosed();
      else await actions.reload();
    }
    this.#running = false;
  }
}

/** Whether the process has a controlling terminal. After the terminal was closed, it has none. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}

/** A command of a server's program. */
export interface ProgramCommand {
  /** Number of its arguments. Default: 0. */
  readonly takes?: number;
  /** Runs it with its arguments. */
  run(...values: string[]): Promise<void>;
}

/**
 * Runs the command that the first argument names, by default `serve`. `help` and `--help` print the usage. An unknown command, or another
 * number of arguments, prints it to standard error, and the program exits with code 1.
 * @param commands by their names
 */
export async function runProgramCommand(
  usage: string,
  commands: Readonly<Record<string, ProgramCommand>>,
): Promise<void> {
  const [name = "serve", ...values] = process.argv.slice(2);
  if (name === "help" || name === "--help") return console.log(usage);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command !== undefined && values.length === (command.takes ?? 0)) return command.run(...values);
  console.error(usage);
  process.exitCode = 1;
}

/** Runs a command. If it fails, it prints one line `sotto: CODE: message` and exits with code 1. */
export async function endWith(action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    console.error(`sotto: ${codeOf(error)}: ${redact(text)}`);
    process.exit(1);
  }
}
