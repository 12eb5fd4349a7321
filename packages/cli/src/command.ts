import type { WalletProver } from "@sotto/client";
import type { Arguments, OptionSpecs } from "./frame/arguments.ts";
import type { Environment, Output, Result, Streams } from "./frame/output.ts";
import type { Home } from "./home/home.ts";

export interface Context {
  readonly args: Arguments;
  readonly output: Output;
  readonly streams: Streams;
  readonly home: Home;
  readonly environment: Environment;
  /** Aborted on SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  /** See RunOptions. */
  readonly prover?: WalletProver | undefined;
}

export interface Command {
  /** One word, or two as in `receipt check`. */
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** Names of the arguments in the usage line; optional ones in brackets. */
  readonly positionals: readonly string[];
  readonly options: OptionSpecs;
  /** Paragraphs of --help between the summary and the options. */
  readonly details: readonly string[];
  run(context: Context): Promise<Result | undefined>;
}

/** Options of every command. */
export const COMMON: OptionSpecs = {
  home: { value: "DIR", help: "the wallet's folder; default: SOTTO_HOME, else ~/.sotto" },
  json: { help: "write the result as one JSON document, and errors as JSON" },
  verbose: { help: "write progress to standard error, one line each" },
  help: { help: "show this text", short: "h" },
};
