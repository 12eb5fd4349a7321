import type { PayingMethod } from "@sotto/client";
import type { ErrorTable } from "@sotto/protocol";
import type { Wallet, WalletProver } from "@sotto/wallet";
import type { ChargeEntry } from "@sotto/wallet/receipts";
import type { Arguments, OptionSpecs } from "./frame/arguments.ts";
import type { Environment, Output, Result, Streams } from "./frame/output.ts";
import type { Attend } from "./home/attend.ts";
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
  /** The time, ms since the Unix epoch. */
  readonly now: () => number;
  /** What the program's sets add to the command. */
  readonly program: Omit<Program, "commands">;
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

/**
 * What merchants charged this wallet in a way to pay, oldest first.
 * @param decimals the decimals of the token, 0 to 77
 */
export type Charges = (wallet: Wallet, decimals: number) => Promise<readonly ChargeEntry[]>;

/** Commands that belong together, and what comes with them: their errors, ways to pay and charges. */
export interface CommandSet {
  /** Names the set in errors. */
  readonly name: string;
  /** Each is one block of the list of `sotto --help`. */
  readonly groups: readonly {
    /** The command that is listed before the group. */
    readonly after: string;
    /** In the order in which they are listed. */
    readonly commands: readonly Command[];
  }[];
  /** Errors that no other command ends with: their exit codes and next steps. */
  readonly errors?: ErrorTable | undefined;
  /**
   * Ways to pay that `pay` and `request` try, in this order: before the private payment, or after it if `privatePayment` of
   * @sotto/client is before them. Several sets can list the same one: its first place counts.
   */
  readonly methods?: readonly PayingMethod[] | undefined;
  /** Lists what merchants charged in these ways to pay. The command `payments` shows it beside the payments. */
  readonly charges?: Charges | undefined;
  /** Attends to the wallet of each command that spends. */
  readonly attend?: Attend | undefined;
}

/** A program: the commands of every program, and what its sets add. */
export interface Program {
  /** In the order of `sotto --help`. */
  readonly commands: readonly Command[];
  /** Every error that a command can end with. */
  readonly errors: ErrorTable;
  /** Ways to pay besides the private payment. */
  readonly methods: readonly PayingMethod[];
  /** The charges of all sets. */
  readonly charges: readonly Charges[];
  /** What attends to the wallet of each command that spends. */
  readonly attends: readonly Attend[];
}

/** Options of every command. */
export const COMMON: OptionSpecs = {
  home: { value: "DIR", help: "the wallet's folder; default: SOTTO_HOME, else ~/.sotto" },
  json: { help: "write the result as one JSON document, and errors as JSON" },
  verbose: { help: "write progress to standard error, one line each" },
  help: { help: "show this text", short: "h" },
};
