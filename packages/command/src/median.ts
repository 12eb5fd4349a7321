/** The median; for an even number of values the lower of the middle two; NaN without values. */
export function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[(values.length - 1) >> 1] ?? Number.NaN;
}
