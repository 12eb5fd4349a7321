import { COMMON, type Command } from "./command.ts";
import type { OptionSpecs } from "./frame/arguments.ts";
import { EXIT } from "./frame/exit.ts";

function flags(name: string, { value, short }: OptionSpecs[string]): string {
  return `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;
}

/** Width of the help text, in characters. */
const COLUMNS = 80;

/** Breaks a text into lines of at most `width` characters; longer words stay whole. */
export function wrap(text: string, width = COLUMNS): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Formats rows as two columns and wraps the second one. */
function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(0, ...rows.map(([left]) => left.length));
  return rows.flatMap(([left, right]) =>
    wrap(right, COLUMNS - width - 4).map((line, i) => `  ${(i === 0 ? left : "").padEnd(width)}  ${line}`),
  );
}

const table = (options: OptionSpecs): string[] =>
  columns(Object.entries(options).map(([name, spec]) => [flags(name, spec), spec.help]));

/** Wraps a command's details. An indented line is an example and stays unchanged. */
function paragraphs(details: readonly string[]): string[] {
  const blocks: string[] = [];
  for (const line of details) {
    const last = blocks.at(-1);
    if (last === undefined || line.startsWith(" ") || last.startsWith(" ")) blocks.push(line);
    else blocks[blocks.length - 1] = `${last} ${line}`;
  }
  return blocks.flatMap((block) => (block.startsWith(" ") ? [block] : wrap(block)));
}

function usageLine({ name, positionals, options }: Command): string {
  const parts = ["sotto", name, ...positionals, ...(Object.keys(options).length === 0 ? [] : ["[options]"])];
  return parts.join(" ");
}

export function commandHelp(command: Command): string[] {
  return [
    `usage: ${usageLine(command)}`,
    "",
    ...wrap(command.summary),
    ...(command.details.length === 0 ? [] : ["", ...paragraphs(command.details)]),
    ...(Object.keys(command.options).length === 0 ? [] : ["", "options:", ...table(command.options)]),
    "",
    "every command:",
    ...table(COMMON),
  ];
}

export function overview(commands: readonly Command[]): string[] {
  return [
    "usage: sotto COMMAND [arguments] [options]",
    "",
    "Private payments for HTTP.",
    "",
    ...columns(commands.map(({ name, summary }) => [name, summary])),
    "",
    "`sotto COMMAND --help` shows every option,",
    "`sotto --version` shows the version.",
    "",
    "exit codes:",
    ...columns(Object.values(EXIT).map(({ code, means }) => [String(code).padStart(3), means])),
  ];
}
