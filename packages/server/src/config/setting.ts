import type { Parse } from "./parse.ts";

/** One environment variable. The table in docs/operations.md is generated from these. */
export interface Setting<T> {
  /** Name of the environment variable, such as SOTTO_PORT. */
  readonly variable: string;
  /** Parses the text of the variable, or throws an Error that says what it must be. */
  readonly parse: Parse<T>;
  /** The default, written as in the environment; undefined if there is none. */
  readonly fallback: string | undefined;
  /** Its meaning, for docs/operations.md and for the error if it is missing. */
  readonly about: string;
  /** Never shown, not even in errors. VARIABLE_FILE may name a file that contains it. */
  readonly secret: boolean;
  /** A running program applies a new value when it gets SIGHUP. Otherwise it needs a restart. */
  readonly live: boolean;
}

/**
 * Defines a setting.
 * @param variable its environment variable
 * @param fallback its default, written as in the environment
 * @param about its meaning, for the documentation
 * @param secret whether its value must never be shown
 */
export function setting<T>(
  variable: string,
  parse: Parse<T>,
  fallback: string | undefined,
  about: string,
  secret = false,
): Setting<T> {
  return { variable, parse, fallback, about, secret, live: false };
}

/** Marks a setting whose new value a running program applies when it gets SIGHUP. */
export const live = <T>(of: Setting<T>): Setting<T> => ({ ...of, live: true });

/** Settings by the names that the code uses. */
export type SettingTable = Readonly<Record<string, Setting<unknown>>>;

/** The parsed values; undefined if a variable is not set and has no default. */
export type SettingValues<T extends SettingTable> = {
  readonly [K in keyof T]: T[K] extends Setting<infer V> ? V | undefined : never;
};
