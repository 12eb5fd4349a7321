import type { Arguments, OptionSpecs } from "./frame/arguments.ts";
import type { Environment, Output, Result, Streams } from "./frame/output.ts";
import type { Home } from "./home/home.ts";

/** What a command works with. */
export interface Context {
  readonly args: Arguments;
  readonly output: Output;
  readonly streams: Streams;
  readonly home: Home;
  readonly environment: Environment;
  /** Ends what waits, on SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
}

export interface Command {
  /** `receipt check` is a name of two words. */
  readonly name: string;
  /** One line, for the list of commands. */
  readonly summary: string;
  /** Names of the arguments, as in the usage line; an optional one in brackets. */
  readonly positionals: readonly string[];
  readonly options: OptionSpecs;
  /** What --help says beside usage and options. */
  readonly details: readonly string[];
  run(context: Context): Promise<Result | undefined>;
}

/** Options that every command has. */
export const COMMON: OptionSpecs = {
  home: { value: "DIR", help: "folder of the wallet; SOTTO_HOME, or ~/.sotto" },
  json: { help: "one JSON document on standard output; errors as JSON on standard error" },
  verbose: { help: "progress on standard error, a line each, also where it is no terminal" },
  help: { help: "this text", short: "h" },
};
