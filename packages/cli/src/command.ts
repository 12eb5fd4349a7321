import type { WalletProver } from "@sotto/wallet";
import type { Arguments, OptionSpecs } from "./frame/arguments.ts";
import type { Environment, Output, Result, Streams } from "./frame/output.ts";
import type { Home } from "./home/home.ts";

/** What a command runs with. */
export interface Context {
  /** The command's own options and arguments, and those of every command. */
  readonly args: Arguments;
  /** Writes progress and questions; a result is returned instead. */
  readonly output: Output;
  /** Standard input, output and error. */
  readonly streams: Streams;
  /** The wallet's folder. */
  readonly home: Home;
  /** Environment variables. */
  readonly environment: Environment;
  /** Aborted on SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  /** See RunOptions. */
  readonly prover?: WalletProver | undefined;
}

/** A command of `sotto`. */
export interface Command {
  /** One word, or two as in `receipt check`. */
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** Names of the arguments in the usage line; optional ones in brackets. */
  readonly positionals: readonly string[];
  /** Options by name, without the dashes; those of every command are added. */
  readonly options: OptionSpecs;
  /** Paragraphs of --help between the summary and the options. */
  readonly details: readonly string[];
  /** Runs it. The result is written as text, or with --json as one JSON document; undefined if it wrote its own. */
  run(context: Context): Promise<Result | undefined>;
}

/** Commands that belong together, and where `sotto --help` lists them. */
export interface CommandSet {
  /** Names the set in errors. */
  readonly name: string;
  /** Each is one block of the list. */
  readonly groups: readonly {
    /** The command that is listed before the group. */
    readonly after: string;
    /** In the order in which they are listed. */
    readonly commands: readonly Command[];
  }[];
}

/** Options of every command. */
export const COMMON: OptionSpecs = {
  home: { value: "DIR", help: "the wallet's folder; default: SOTTO_HOME, else ~/.sotto" },
  json: { help: "write the result as one JSON document, and errors as JSON" },
  verbose: { help: "write progress to standard error, one line each" },
  help: { help: "show this text", short: "h" },
};
