import type { OptionSpecs } from "./arguments.ts";
import { COMMON, type Command } from "./command.ts";
import { EXIT } from "./exit.ts";

function flags(name: string, { value, short }: OptionSpecs[string]): string {
  return `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;
}

function table(options: OptionSpecs): string[] {
  const rows = Object.entries(options).map(([name, spec]) => [flags(name, spec), spec.help] as const);
  const width = Math.max(0, ...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}

function usageLine({ name, positionals, options }: Command): string {
  const parts = ["sotto", name, ...positionals, ...(Object.keys(options).length === 0 ? [] : ["[options]"])];
  return parts.join(" ");
}

export function commandHelp(command: Command): string[] {
  return [
    `usage: ${usageLine(command)}`,
    "",
    command.summary,
    ...(command.details.length === 0 ? [] : ["", ...command.details]),
    ...(Object.keys(command.options).length === 0 ? [] : ["", "options:", ...table(command.options)]),
    "",
    "every command:",
    ...table(COMMON),
  ];
}

export function overview(commands: readonly Command[]): string[] {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    "usage: sotto COMMAND [arguments] [options]",
    "",
    "Private payments for HTTP.",
    "",
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    "",
    "sotto COMMAND --help says more, sotto --version which one this is. Exit codes:",
    ...Object.values(EXIT).map(({ code, means }) => `  ${String(code).padStart(3)}  ${means}`),
  ];
}
