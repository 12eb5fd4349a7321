// Exports with and without docstrings, and docstrings that say nothing, for the test of the check.

/** Says hello. */
export const documented = (): string => "hello";

/** @returns a greeting */
export function onlyReturns(): string {
  return "hello";
}

export interface Undocumented {
  readonly greeting: string;
  readonly times: number;
  readonly prices: readonly bigint[];
  readonly guest: Documented | undefined;
  readonly host?: string;
  /** The greeting that is undocumented. */
  readonly greetings: string[];
  /** The times. */
  readonly retries: number;
  /** In the language of the host. */
  readonly farewell: string;
}

/** A greeting. */
export type Documented = Undocumented["greeting"];

/** How a conversation ends. */
export type Farewell =
  | "silence"
  | {
      /** The last words. */
      readonly words: string;
      readonly language: string | null;
    };

/** Greets. */
export interface Greeter {
  /** Says hello. */
  hello(): string;
  goodbye(): string;
}

/** Inherits the docstring of `hello`. */
export class Polite implements Greeter {
  hello(): string {
    return "hello";
  }
  /** Says goodbye. */
  goodbye(): string {
    return "goodbye";
  }
  get mood(): string {
    return "good";
  }
}
