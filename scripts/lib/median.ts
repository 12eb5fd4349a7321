/** The middle one of measured values, the lower of two; NaN of none. */
export function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[(values.length - 1) >> 1] ?? Number.NaN;
}
