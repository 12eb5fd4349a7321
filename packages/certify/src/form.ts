import { inverse, mod, P } from "./field.ts";

/** A linear form over the wires: constant + the sum of coefficients[i] times wire wires[i]. Wires ascend; no coefficient is 0. */
export interface Form {
  readonly constant: bigint;
  readonly wires: readonly number[];
  readonly coefficients: readonly bigint[];
}

export const constant = (value: bigint): Form => ({ constant: mod(value), wires: [], coefficients: [] });

/** The sum of scales[i] times forms[i]. */
export function combine(...parts: readonly (readonly [scale: bigint, form: Form])[]): Form {
  let sum = 0n;
  const found = new Map<number, bigint>();
  for (const [scale, form] of parts) {
    sum += scale * form.constant;
    for (const [i, wire] of form.wires.entries())
      found.set(wire, (found.get(wire) ?? 0n) + scale * (form.coefficients[i] as bigint));
  }
  const terms = [...found].map(([wire, value]) => [wire, mod(value)] as const).filter(([, value]) => value !== 0n);
  terms.sort(([a], [b]) => a - b);
  return { constant: mod(sum), wires: terms.map(([wire]) => wire), coefficients: terms.map(([, value]) => value) };
}

export const scaled = (form: Form, scale: bigint): Form => (scale === 1n ? form : combine([scale, form]));
export const isConstant = (form: Form): boolean => form.wires.length === 0;
export const isZero = (form: Form): boolean => isConstant(form) && form.constant === 0n;

export const equal = (a: Form, b: Form): boolean =>
  a.constant === b.constant &&
  a.wires.length === b.wires.length &&
  a.wires.every((wire, i) => wire === b.wires[i] && a.coefficients[i] === b.coefficients[i]);

/** The k with a = k b, if there is one and it is not 0. `b` is not the zero form. */
export function ratio(a: Form, b: Form): bigint | undefined {
  if (a.wires.length !== b.wires.length || a.wires.some((wire, i) => wire !== b.wires[i])) return undefined;
  const [x, y] = isConstant(b) ? [a.constant, b.constant] : [a.coefficients[0] as bigint, b.coefficients[0] as bigint];
  if (x === 0n || y === 0n) return undefined;
  const k = x === y ? 1n : mod(x * inverse(y));
  const same = (left: bigint, right: bigint) => left === (k * right) % P;
  if (!same(a.constant, b.constant)) return undefined;
  return a.coefficients.every((value, i) => same(value, b.coefficients[i] as bigint)) ? k : undefined;
}

/** A name of the form; two forms have the same name if and only if they are equal. */
export const keyOf = ({ constant: value, wires, coefficients }: Form): string =>
  `${value}:${wires.map((wire, i) => `${coefficients[i]}*${wire}`).join("+")}`;

/** A name shared by all nonzero multiples of a form that has a wire. */
export function lineOf(form: Form): string {
  const lead = form.coefficients[0];
  return keyOf(lead === undefined || lead === 1n ? form : scaled(form, inverse(lead)));
}
