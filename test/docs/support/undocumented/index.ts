// Exports with and without docstrings, for the test of the check.

/** Says hello. */
export const documented = (): string => "hello";

/** @returns a greeting */
export function onlyReturns(): string {
  return "hello";
}

export interface Undocumented {
  readonly greeting: string;
}

/** A greeting. */
export type Documented = Undocumented["greeting"];

/** How a conversation ends. */
export type Farewell =
  | "silence"
  | {
      /** The last words. */
      readonly words: string;
      readonly language: string;
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
