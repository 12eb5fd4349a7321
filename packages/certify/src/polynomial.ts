import { mod } from "./field.ts";
import type { Form } from "./form.ts";

/** A polynomial: the coefficient of each monomial, none of them 0. A monomial is its wires, ascending, joined by a comma. */
export type Polynomial = ReadonlyMap<string, bigint>;

/** The monomial 1. */
export const UNIT = "";

const without0 = (terms: Map<string, bigint>): Polynomial => {
  for (const [monomial, value] of terms) if (value === 0n) terms.delete(monomial);
  return terms;
};

const wiresOf = (monomial: string): string[] => (monomial === UNIT ? [] : monomial.split(","));

/** The sum of scales[i] times polynomials[i]. */
export function addUp(...parts: readonly (readonly [scale: bigint, polynomial: Polynomial])[]): Polynomial {
  const sum = new Map<string, bigint>();
  for (const [scale, polynomial] of parts)
    for (const [monomial, value] of polynomial) sum.set(monomial, mod((sum.get(monomial) ?? 0n) + scale * value));
  return without0(sum);
}

export function times(a: Polynomial, b: Polynomial): Polynomial {
  const product = new Map<string, bigint>();
  for (const [left, x] of a)
    for (const [right, y] of b) {
      const monomial = [...wiresOf(left), ...wiresOf(right)].sort((one, other) => Number(one) - Number(other)).join();
      product.set(monomial, mod((product.get(monomial) ?? 0n) + x * y));
    }
  return without0(product);
}

/** A form as a polynomial, with a polynomial in place of each wire for which `valueAt` has one. */
export function expand(form: Form, valueAt: (wire: number) => Polynomial | undefined): Polynomial {
  const constant: Polynomial = new Map(form.constant === 0n ? [] : [[UNIT, form.constant]]);
  const terms = form.wires.map(
    (wire, i) => [form.coefficients[i] as bigint, valueAt(wire) ?? new Map([[`${wire}`, 1n]])] as const,
  );
  return addUp([1n, constant], ...terms);
}
