import { parseArgs } from "node:util";
import {
  invisibleCharacter,
  type Month,
  parseAddress,
  parseDecimalAmount,
  parseMonth,
  SottoError,
  trimPasted,
} from "@sotto/protocol";
import { usage } from "./errors.ts";
import { nearest } from "./nearest.ts";

/** An option of a command. Without `value` it is a switch. */
export interface OptionSpec {
  /** Names the value in the help, such as AMOUNT. A value named URL is checked to be one before the command runs. */
  readonly value?: string;
  readonly help: string;
  /** Whether it may be given more than once. Default: false. */
  readonly multiple?: boolean | undefined;
  /** One letter. */
  readonly short?: string | undefined;
}

/** Options by name, without the dashes. */
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** Maximum length of an argument, in characters. */
const MAX_LENGTH = 65_536;

/**
 * A command's arguments, read strictly by Node's own parser: unknown options and missing values are errors. Errors
 * never repeat a value, because the user may have pasted a secret.
 */
export class Arguments {
  readonly #values: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;
  readonly #positionals: readonly string[];

  constructor(args: readonly string[], specs: OptionSpecs, positionals: readonly string[]) {
    const options = Object.fromEntries(
      Object.entries(specs).map(([name, { value, multiple, short }]) => [
        name,
        {
          type: value === undefined ? ("boolean" as const) : ("string" as const),
          multiple: multiple === true,
          // Node rejects a short name that is undefined.
          ...(short === undefined ? {} : { short }),
        },
      ]),
    );
    if (args.some((arg) => arg.length > MAX_LENGTH)) throw usage(`an argument is longer than ${MAX_LENGTH} characters`);
    let parsed: ReturnType<typeof parseArgs>;
    try {
      parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true, tokens: true });
    } catch (error) {
      throw usage(explain(error, specs));
    }
    rejectRepeated(parsed.tokens ?? [], specs);
    if (parsed.positionals.length > positionals.length)
      throw usage(`got ${parsed.positionals.length} arguments, expected ${positionals.length || "none"}`);
    assertValues(parsed.values, specs);
    this.#values = parsed.values;
    this.#positionals = parsed.positionals;
  }

  /** Whether a switch is given. */
  flag(name: string): boolean {
    return this.#values[name] === true;
  }

  /** An option's value as it was given. */
  text(name: string): string | undefined {
    const value = this.#values[name];
    if (value === undefined) return undefined;
    return String(value);
  }

  /** All values of an option that may be given more than once. */
  texts(name: string): string[] {
    const value = this.#values[name];
    return Array.isArray(value) ? value.map(String) : [];
  }

  /** An option's value. @throws CliError USAGE if it is missing */
  required(name: string): string {
    const value = this.text(name);
    if (value === undefined) throw usage(`--${name} is missing`);
    return value;
  }

  /** An option's whole number. @throws CliError USAGE if it is not from `min` to `max` */
  integer(name: string, min: number, max: number): number | undefined {
    const value = this.text(name);
    return value === undefined ? undefined : toInteger(value, `--${name}`, min, max);
  }

  /** Converts an option's decimal amount to base units. */
  amount(name: string, decimals: number): bigint | undefined {
    const value = this.text(name);
    return value === undefined ? undefined : toAmount(value, `--${name}`, decimals);
  }

  /** An option's month. @throws CliError USAGE */
  month(name: string): Month | undefined {
    const value = this.text(name);
    return value === undefined ? undefined : toMonth(value, `--${name}`);
  }

  /** An option's address, in lower case. @throws CliError USAGE */
  address(name: string): string | undefined {
    const value = this.text(name);
    return value === undefined ? undefined : named(`--${name}`, () => parseAddress(trimPasted(value), `--${name}`));
  }

  /** The constructor has checked every option whose value is a URL. */
  url(name: string): string | undefined {
    const value = this.text(name);
    return value === undefined ? undefined : trimPasted(value);
  }

  /** An argument. @param name its name in the usage line @throws CliError USAGE if it is missing */
  positional(index: number, name: string): string {
    const value = this.#positionals[index];
    if (value === undefined || value === "") throw usage(`${name} is missing`);
    return value;
  }

  /** An argument that may be missing. */
  optional(index: number): string | undefined {
    return this.#positionals[index];
  }
}

/** Checks the values that do not depend on the wallet's config, before anything else happens. */
function assertValues(values: Readonly<Record<string, unknown>>, specs: OptionSpecs): void {
  for (const [name, found] of Object.entries(values))
    for (const value of [found].flat()) {
      if (value === "") throw usage(`--${name} is empty`);
      if (specs[name]?.value === "URL") toUrl(String(value), `--${name}`);
    }
}

type Tokens = NonNullable<ReturnType<typeof parseArgs>["tokens"]>;

/** Rejects repeated options, because Node's parser silently uses the last value. */
function rejectRepeated(tokens: Tokens, specs: OptionSpecs): void {
  const seen = new Set<string>();
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    if (seen.has(token.name) && specs[token.name]?.multiple !== true)
      throw usage(`--${token.name} is given twice; it can be given only once`);
    seen.add(token.name);
  }
}

function explain(error: unknown, specs: OptionSpecs): string {
  const { code, message } = error as { code?: string; message: string };
  const known = Object.keys(specs).find((name) => message.includes(`--${name}`));
  if (code === "ERR_PARSE_ARGS_UNKNOWN_OPTION") {
    const similar = nearest(/'--([^'=]+)/.exec(message)?.[1] ?? "", Object.keys(specs));
    return `unknown option; ${similar === undefined ? "--help lists the options" : `did you mean --${similar}?`}`;
  }
  if (code === "ERR_PARSE_ARGS_INVALID_OPTION_VALUE" && known !== undefined) {
    const { value } = specs[known]!;
    return value === undefined ? `--${known} takes no value` : `--${known} needs a value: ${value}`;
  }
  return "the arguments cannot be read";
}

/** Runs a parser of the protocol and turns its error into a usage error that names the argument. */
export function named<T>(name: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof SottoError)) throw error;
    throw usage(`${name} is invalid: ${error.message}`);
  }
}

function toInteger(value: string, name: string, min: number, max: number): number {
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= min && number <= max)) throw usage(`${name} must be a whole number from ${min} to ${max}`);
  return number;
}

function toMonth(value: string, name: string): Month {
  try {
    return parseMonth(trimPasted(value), name);
  } catch {
    // The protocol's message repeats the value.
    throw usage(`${name} must be a month from 2020-01 to 2099-12, such as 2026-12`);
  }
}

export function toAmount(value: string, name: string, decimals: number): bigint {
  const amount = named(name, () => parseDecimalAmount(trimPasted(value), decimals));
  if (amount === 0n) throw usage(`${name} must be more than 0`);
  return amount;
}

/**
 * Checks an http or https URL of an argument.
 * @param name names it in errors
 * @returns the URL as it was given, without the spaces and invisible characters around it
 * @throws CliError USAGE
 */
export function toUrl(given: string, name: string): string {
  const value = trimPasted(given);
  const invisible = invisibleCharacter(value);
  // A URL parser would encode or drop it, and another page would be requested.
  if (invisible !== undefined)
    throw usage(`${name} contains ${invisible}: remove it, or percent-encode it if it is part of the URL`);
  const url = value.length <= 2048 && URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw usage(`${name} must be an http or https URL of at most 2048 characters`);
  if (url.username !== "" || url.password !== "") throw usage(`${name} must not contain a user name or password`);
  return value;
}
