// Shared by all commands of the checkout. A command exits with 0, or with 1 and one line: `sotto: CODE: problem and next
// step`.

import { type ParseArgsConfig, parseArgs } from "node:util";
import type { SCRIPT_ERRORS } from "./error-definitions.ts";

export type CommandErrorCode = keyof typeof SCRIPT_ERRORS;

interface CommandErrorOptions extends ErrorOptions {
  /** Keeps the message's line breaks; for a compiler's message or a list. */
  readonly inLines?: boolean;
}

/** An error that the user can act on. Its code is stable and defined in error-definitions.ts. */
export class CommandError extends Error {
  readonly code: CommandErrorCode;
  readonly inLines: boolean;
  constructor(code: CommandErrorCode, message: string, options: CommandErrorOptions = {}) {
    super(message, options);
    this.name = "CommandError";
    this.code = code;
    this.inLines = options.inLines ?? false;
  }
}

/** The text to print for an error; with the stack trace if SOTTO_DEBUG is 1. */
export function errorLine(error: unknown): string {
  if (!(error instanceof Error)) return `sotto: UNEXPECTED: ${String(error)}`;
  const code = "code" in error && typeof error.code === "string" ? error.code : "UNEXPECTED";
  const inLines = error instanceof CommandError && error.inLines;
  const shown = inLines ? error.message : error.message.replace(/\s*\n\s*/g, " ");
  const text = process.env["SOTTO_DEBUG"] === "1" ? (error.stack ?? error.message) : shown;
  return `sotto: ${code}: ${text}`;
}

/** Runs a command's main function. An error becomes one line and exit code 1. */
export async function runCommand(main: () => Promise<void>): Promise<void> {
  // Called if the event loop is empty although `main` has not ended. Node's own message would show source code.
  const unsettled = () => {
    console.error("\nsotto: INPUT_ENDED: the command waits for input (a password?), but its input has ended");
    process.exit(1);
  };
  process.once("beforeExit", unsettled);
  try {
    await main();
  } catch (error) {
    console.error(errorLine(error));
    process.exitCode = 1;
  } finally {
    process.off("beforeExit", unsettled);
  }
}

/** Reads the options of `npm run COMMAND`, flags among them. @throws CommandError UNKNOWN_OPTION */
export function parseFlags<const Options extends NonNullable<ParseArgsConfig["options"]>>(
  command: string,
  args: string[],
  options: Options,
) {
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    const [problem] = (error as Error).message.split(". ");
    throw new CommandError("UNKNOWN_OPTION", `${problem}; npm run ${command} -- --help lists the options`);
  }
}

/**
 * Reads `--name value` and `--name=value` options.
 * @throws CommandError UNKNOWN_OPTION for an argument that is not an option in `names`, or an option without a value
 */
export function parseOptions<Name extends string>(
  args: string[],
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const found: Partial<Record<Name, string>> = {};
  for (let index = 0; index < args.length; index += 1) {
    const [flag = "", inline] = (args[index] ?? "").split(/=(.*)/s);
    const name = names.find((candidate) => flag === `--${candidate}`);
    const value = inline ?? args[index + 1];
    if (name === undefined || value === undefined || value === "") {
      const known = names.map((candidate) => `--${candidate} VALUE`).join(", ") || "none";
      throw new CommandError("UNKNOWN_OPTION", `cannot read "${args[index]}"; options: ${known}`);
    }
    if (inline === undefined) index += 1;
    found[name] = value;
  }
  return found;
}

/** @returns a port from 1 to 65535 @throws CommandError INVALID_PORT */
export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port >= 1 && port <= 65535))
    throw new CommandError("INVALID_PORT", `"${text}" is not a port; expected a number from 1 to 65535`);
  return port;
}
