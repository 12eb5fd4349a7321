/** Throws an Error that says what is wrong, unless a premise holds. */
export function need(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}
