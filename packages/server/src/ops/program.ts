import { SottoError } from "@sotto/protocol";
import closeWithGrace from "close-with-grace";
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
}

/** Runs a server until SIGINT or SIGTERM. If the start fails, it prints one line and exits with code 1. */
export async function runProgram(start: () => Promise<Program>): Promise<void> {
  await endWith(async () => {
    const { says, log, shutdownMs, close } = await start();
    closeWithGrace({ delay: shutdownMs, logger: false }, async ({ err, signal }) => {
      if (err) log.fatal({ err }, "shutting down after an uncaught error");
      else log.info({ signal }, "shutting down");
      await close();
    });
    console.error(says);
  });
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
    const code = error instanceof SottoError ? error.code : "UNEXPECTED";
    const text = error instanceof Error ? error.message : String(error);
    console.error(`sotto: ${code}: ${redact(text)}`);
    process.exit(1);
  }
}
