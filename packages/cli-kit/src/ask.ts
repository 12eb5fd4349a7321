import { createInterface } from "node:readline/promises";
import { trimPasted } from "@sotto/protocol";
import type { Arguments } from "./frame/arguments.ts";
import { CliError } from "./frame/errors.ts";
import type { Output, Streams } from "./frame/output.ts";

/** The parts of a command's context needed to ask a question. */
export interface Terminal {
  readonly streams: Streams;
  readonly output: Output;
  readonly signal: AbortSignal;
}

/** Whether a person can answer, that is, whether standard input and standard error are terminals. */
export function canAsk({ streams }: Pick<Terminal, "streams">): boolean {
  return streams.terminal && streams.stdin.isTTY === true;
}

/**
 * Asks a question on standard error.
 * @param instead what the user can do if there is no terminal
 * @throws CliError NOT_CONFIRMED if there is no terminal
 */
export async function askLine(context: Terminal, question: string, instead: string): Promise<string> {
  if (!canAsk(context)) throw new CliError("NOT_CONFIRMED", `cannot ask without a terminal: ${instead}`);
  context.output.clear();
  // A stream that is a terminal is always one of Node's own.
  const { stdin: input, stderr: output } = context.streams as unknown as Pick<NodeJS.Process, "stdin" | "stderr">;
  const reader = createInterface({ input, output, terminal: true });
  try {
    return trimPasted(await reader.question(question, { signal: context.signal }));
  } finally {
    reader.close();
  }
}

/** Whether the user agrees. @param instead see `askLine` @throws CliError NOT_CONFIRMED if there is no terminal */
export async function agrees(context: Terminal, question: string, instead: string): Promise<boolean> {
  return /^y(es)?$/i.test(await askLine(context, `${question} [y/N] `, instead));
}

/** Returns only if the user agrees. @throws CliError NOT_CONFIRMED */
export async function confirm(context: Terminal & { readonly args: Arguments }, question: string): Promise<void> {
  if (context.args.flag("yes")) return;
  if (!(await agrees(context, question, "confirm with --yes"))) throw new CliError("NOT_CONFIRMED", "nothing was done");
}

export const YES = { yes: { help: "do not ask for confirmation", short: "y" } } as const;
