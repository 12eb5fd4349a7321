// The second checker's rule for divisors whose root would be a square of a number that has no root.
import type { CertificateFile } from "./certificate.ts";
import { divide, mod, P, power } from "./field.ts";
import { need } from "./need.ts";

type Nonsquare = Extract<CertificateFile["facts"][number], { rule: "nonsquare" }>;
/** Terms of one side of a constraint; the constant is at 0. */
type Terms = ReadonlyMap<number, bigint>;

/** Each definition at most doubles the degree of the identity, which is below 2^16 then. */
const MAX_DEFINITIONS = 12;

/**
 * Throws an Error if the fact does not follow. If an assignment satisfies the definitions, then giving each wire again the
 * value that its definition computes changes nothing. So an identity that holds after that for all values holds for it.
 * @param sides the sides of a constraint
 * @param values lists of random values, one for each wire: the identity is tested with each list
 */
export function checkNonsquare(
  { by, form, root, c, k, e, definitions }: Nonsquare,
  sides: (constraint: number) => readonly [Terms, Terms, Terms],
  values: readonly (readonly bigint[])[],
): void {
  need(definitions.length <= MAX_DEFINITIONS, `more than ${MAX_DEFINITIONS} definitions`);
  need(root.length > 0 && root.length <= 2, "w is not a form or a product of two");
  if (mod(k) === 0n) need(mod(c) !== 0n, "0 = 0 is not a contradiction");
  else need(power(divide(c, k), (P - 1n) / 2n) === P - 1n, "c / k has a root, or is 0");
  for (const random of values) {
    const at = [...random];
    at[0] = 1n;
    const side = (terms: Terms) => [...terms].reduce((sum, [wire, scale]) => sum + scale * (at[wire] as bigint), 0n);
    const value = ({ constant, wires, coefficients }: (typeof root)[number]) =>
      wires.reduce((sum, wire, i) => sum + (coefficients[i] as bigint) * (at[wire] as bigint), constant);
    for (const { by: constraint, wire } of definitions) {
      const [x, y, z] = sides(constraint);
      const scale = z.get(wire);
      need(wire > 0 && scale !== undefined && !x.has(wire) && !y.has(wire), `constraint ${constraint} defines no wire`);
      at[wire] = divide(side(x) * side(y) - side(z) + scale * (at[wire] as bigint), scale);
    }
    const [x, y, n] = sides(by);
    const divisor = mod(value(form));
    need(
      [x, y].some((factor) => isForm(factor, form)),
      `constraint ${by} does not contain the divisor`,
    );
    const w = root.map(value).reduce((product, factor) => mod(product * factor));
    need(mod(divisor + e * w * side(n) - c + k * w * w) === 0n, "the identity does not hold");
  }
}

/** Whether a side is a form, term by term. */
function isForm(terms: Terms, { constant, wires, coefficients }: Nonsquare["form"]): boolean {
  const rest = new Map(terms);
  const subtract = (wire: number, value: bigint) => rest.set(wire, mod((rest.get(wire) ?? 0n) - value));
  subtract(0, constant);
  for (const [i, wire] of wires.entries()) subtract(wire, coefficients[i] as bigint);
  return [...rest.values()].every((value) => value === 0n);
}
