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
