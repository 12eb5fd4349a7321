import { createInterface } from "node:readline/promises";
import type { Context } from "./command.ts";
import { CliError } from "./frame/errors.ts";

/** Whether somebody can be asked: both ends are a terminal. */
export function canAsk({ streams }: Context): boolean {
  return streams.terminal && streams.stdin.isTTY === true;
}

/** Asks a question on standard error. @throws CliError NOT_CONFIRMED without a terminal, naming the flag to use */
export async function askLine(context: Context, question: string, instead: string): Promise<string> {
  if (!canAsk(context)) throw new CliError("NOT_CONFIRMED", `there is no terminal to ask on: ${instead}`);
  context.output.clear();
  // Both are Node's own streams where both are a terminal.
  const { stdin: input, stderr: output } = context.streams as unknown as Pick<NodeJS.Process, "stdin" | "stderr">;
  const reader = createInterface({ input, output, terminal: true });
  try {
    return (await reader.question(question, { signal: context.signal })).trim();
  } finally {
    reader.close();
  }
}

/** Goes on only after a yes. @throws CliError NOT_CONFIRMED */
export async function confirm(context: Context, question: string): Promise<void> {
  if (context.args.flag("yes")) return;
  const answer = await askLine(context, `${question} [y/N] `, "--yes says yes beforehand");
  if (!/^y(es)?$/i.test(answer)) throw new CliError("NOT_CONFIRMED", "nothing was done");
}

export const YES = { yes: { help: "do not ask", short: "y" } } as const;
