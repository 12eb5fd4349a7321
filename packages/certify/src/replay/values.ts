import { mod } from "./field.ts";

/** The values of a polynomial at the random points. */
export type Values = readonly bigint[];

export const isSame = (x: Values, y: Values): boolean => x.length === y.length && x.every((value, i) => value === y[i]);

/** The sum of numbers times values, at all points. */
export const sum = (...parts: readonly (readonly [bigint, Values])[]): bigint[] =>
  (parts[0]?.[1] ?? []).map((_, i) => mod(parts.reduce((total, [k, values]) => total + k * (values[i] as bigint), 0n)));
