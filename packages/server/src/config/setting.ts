import type { Parse } from "./parse.ts";

/** One environment variable. The table in docs/operations.md is made of these. */
export interface Setting<T> {
  readonly variable: string;
  readonly parse: Parse<T>;
  /** As it would stand in the environment; undefined where there is none. */
  readonly fallback: string | undefined;
  readonly about: string;
  /** Never shown, not even in errors. May also be given as VARIABLE_FILE, the path of a file with it. */
  readonly secret: boolean;
}

export function setting<T>(
  variable: string,
  parse: Parse<T>,
  fallback: string | undefined,
  about: string,
  secret = false,
): Setting<T> {
  return { variable, parse, fallback, about, secret };
}

/** Settings by the names programs use for them. */
export type SettingTable = Readonly<Record<string, Setting<unknown>>>;

/** What is read from the environment: undefined where it says nothing and there is no fallback. */
export type SettingValues<T extends SettingTable> = {
  readonly [K in keyof T]: T[K] extends Setting<infer V> ? V | undefined : never;
};
