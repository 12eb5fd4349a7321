/** The smallest value that at least the share `q` of all values does not exceed; NaN without values. */
export function quantile(values: readonly number[], q: number): number {
  return values.toSorted((left, right) => left - right)[Math.ceil(q * values.length) - 1] ?? Number.NaN;
}
