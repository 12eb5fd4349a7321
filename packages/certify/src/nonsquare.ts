import { inverse, isSquare, mod } from "./field.ts";
import { type Form, scaled } from "./form.ts";
import type { Normalized } from "./normalize.ts";
import { addUp, expand, type Polynomial, times, UNIT } from "./polynomial.ts";
import type { Fact } from "./steps.ts";

export type Nonsquare = Fact & { rule: "nonsquare" };
/** Constraint `by` is left * right = wire. */
interface Definition {
  readonly by: number;
  readonly wire: number;
  readonly left: Form;
  readonly right: Form;
}

/** Longer forms are not expanded: the formulas of this rule are short. */
const MAX_TERMS = 8;

/**
 * Finds divisors D of constraints D X = N for which D = 0 would make a square of a number that has no root: then N is 0 too,
 * and D + e w N = c - k w^2 for some w.
 * @param skip divisors that need no proof
 */
export function* nonsquares(system: Normalized, skip: (divisor: Form) => boolean): Generator<Nonsquare> {
  const definitions = new Map<number, Definition[]>();
  const { constraints } = system.system;
  for (let by = 0; by < constraints; by++) {
    const found = definitionOf(system, by);
    if (found === undefined) continue;
    const others = definitions.get(found.wire);
    if (others === undefined) definitions.set(found.wire, [found]);
    else others.push(found);
  }
  const defined = ({ wires, constant }: Form) =>
    wires.length === 1 && constant === 0n ? (definitions.get(wires[0] as number) ?? []) : [];
  for (let by = 0; by < constraints; by++) {
    const [a, b, n] = (system.sides(by) ?? []) as readonly Form[];
    if (a === undefined || b === undefined || n === undefined || n.wires.length > MAX_TERMS) continue;
    for (const divisor of [a, b]) {
      const [wire] = divisor.wires;
      // c is D's constant: D is c plus a multiple of w.
      if (wire === undefined || divisor.wires.length > 1 || divisor.constant === 0n || skip(divisor)) continue;
      const found = firstFit(by, divisor, n, definitions.get(wire) ?? [], defined);
      if (found !== undefined) yield found;
    }
  }
}

function firstFit(
  by: number,
  divisor: Form,
  n: Form,
  products: readonly Definition[],
  defined: (form: Form) => readonly Definition[],
): Nonsquare | undefined {
  for (const product of products)
    for (const { root, used } of candidates(product, n, defined)) {
      const found = fit(by, divisor, n, root, used);
      if (found !== undefined) return found;
    }
  return undefined;
}

function definitionOf(system: Normalized, by: number): Definition | undefined {
  const [a, b, c] = (system.sides(by) ?? []) as readonly Form[];
  if (a === undefined || b === undefined || c?.wires.length !== 1 || c.constant !== 0n) return undefined;
  const wire = c.wires[0] as number;
  if ([a, b].some(({ wires }) => wires.length > MAX_TERMS || wires.includes(wire))) return undefined;
  return { by, wire, left: scaled(a, inverse(c.coefficients[0] as bigint)), right: b };
}

/** Factors of w, and the definitions that the identity may use. */
function* candidates(
  product: Definition,
  n: Form,
  defined: (form: Form) => readonly Definition[],
): Generator<{ root: readonly Form[]; used: readonly Definition[] }> {
  const { left, right } = product;
  for (const factor of [left, right]) yield { root: [factor], used: [product] };
  const summands = n.wires.map((wire) => ({ constant: 0n, wires: [wire], coefficients: [1n] }));
  for (const first of defined(left))
    for (const second of defined(right)) {
      // A wire has one definition here: those of the two factors come first.
      const used = new Map([first, second, product].map((one) => [one.wire, one]));
      for (const form of summands) for (const one of defined(form)) if (!used.has(one.wire)) used.set(one.wire, one);
      for (const x of [first.left, first.right])
        for (const y of [second.left, second.right]) yield { root: [x, y], used: [...used.values()] };
    }
}

/** The numbers c, k and e of the identity, if there are any and c / k has no root. */
function fit(
  by: number,
  divisor: Form,
  n: Form,
  root: readonly Form[],
  definitions: readonly Definition[],
): Nonsquare | undefined {
  const order = inOrder(definitions);
  if (order === undefined) return undefined;
  const values = new Map<number, Polynomial>();
  const value = (form: Form) => expand(form, (wire) => values.get(wire));
  for (const { wire, left, right } of order) values.set(wire, times(value(left), value(right)));
  const w = root.map(value).reduce(times);
  const [d, wn, ww] = [value(divisor), times(w, value(n)), times(w, w)];
  const quotient = (above: Polynomial, below: Polynomial, monomial: string | undefined) =>
    monomial === undefined ? 0n : mod(-(above.get(monomial) ?? 0n) * inverse(below.get(monomial) as bigint));
  const e = quotient(
    d,
    wn,
    [...wn.keys()].find((monomial) => monomial !== UNIT && !ww.has(monomial)),
  );
  const sum = addUp([1n, d], [e, wn]);
  const k = quotient(
    sum,
    ww,
    [...ww.keys()].find((monomial) => monomial !== UNIT),
  );
  const rest = addUp([1n, sum], [k, ww]);
  const c = rest.get(UNIT) ?? 0n;
  if (c === 0n || rest.size > 1 || (k !== 0n && isSquare(c * inverse(k)))) return undefined;
  const used = order.map(({ by, wire }) => ({ by, wire }));
  return { rule: "nonsquare", by, form: divisor, root, c, k, e, definitions: used };
}

/** Definitions, each after those of its wires; undefined if they are circular. */
function inOrder(definitions: readonly Definition[]): Definition[] | undefined {
  const left = new Map(definitions.map((one) => [one.wire, one]));
  const order: Definition[] = [];
  while (left.size > 0) {
    const next = [...left.values()].find((one) =>
      [...one.left.wires, ...one.right.wires].every((wire) => !left.has(wire)),
    );
    if (next === undefined) return undefined;
    left.delete(next.wire);
    order.push(next);
  }
  return order;
}
