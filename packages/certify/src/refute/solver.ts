/** Searches values that satisfy products of linear forms, A B = C, by propagation, elimination and guesses. */
import type { Field } from "./field.ts";

/** constant + the sum of terms; no variable occurs twice. */
export interface Form {
  readonly constant: bigint;
  readonly terms: readonly (readonly [variable: number, coefficient: bigint])[];
}

/** A B = C. A linear equation has A = B = 0. */
export type Product = readonly [a: Form, b: Form, c: Form];

export const ZERO: Form = { constant: 0n, terms: [] };

/** The sum of scales times forms. */
export function add(field: Field, ...parts: readonly (readonly [scale: bigint, form: Form])[]): Form {
  let constant = 0n;
  const sums = new Map<number, bigint>();
  for (const [scale, form] of parts) {
    constant += scale * form.constant;
    for (const [variable, value] of form.terms) sums.set(variable, (sums.get(variable) ?? 0n) + scale * value);
  }
  const terms: [number, bigint][] = [];
  for (const [variable, sum] of sums) {
    const value = field.mod(sum);
    if (value !== 0n) terms.push([variable, value]);
  }
  return { constant: field.mod(constant), terms };
}

/** The k with a = k b, if there is one; both have the same variables in any order. */
export function quotient(field: Field, a: Form, b: Form): bigint | undefined {
  if (a.terms.length !== b.terms.length || a.terms.length === 0) return undefined;
  const other = new Map(b.terms);
  const [variable, value] = a.terms[0] as readonly [number, bigint];
  const first = other.get(variable);
  if (first === undefined) return undefined;
  const k = field.mod(value * field.inverse(first));
  const same = a.terms.every(([wire, one]) => one === field.mod(k * (other.get(wire) ?? 0n)));
  return same && a.constant === field.mod(k * b.constant) ? k : undefined;
}

/** One possible guess: a factor of a product becomes 0, or a variable gets a value. */
export type Choice =
  | { readonly product: number; readonly zero: Form }
  | { readonly variable: number; readonly value: bigint };

/** Decides what to try if nothing follows any more; undefined if every variable that matters has a value. */
export type Chooser = (solver: Solver) => readonly Choice[] | undefined;

/** Elimination is tried on at most so many equations, and stops after so many products. */
const MAX_ROWS = 600;
const MAX_ELIMINATION = 400_000;
/** Each elimination looks at every constraint: a small system eliminates in every round, one of medium size in each 16th. */
const [SMALL_SYSTEM, MEDIUM_SYSTEM] = [200, 5_000];
/** Sums of more bits are left alone. */
const MAX_BITS = 600;
/** Bits of a sum that are guessed because the field is too small for them, at most. */
const MAX_WRAPPED = 8;

/**
 * The few terms that must be left out so that the others grow like powers of two. In a sum of 256 bits, these are the coefficients
 * 2^254 mod p and 2^255 mod p.
 * @param sizes sorted, at most p / 2
 */
function wrappedOf(
  sizes: readonly { readonly index: number; readonly size: bigint }[],
  p: bigint,
): number[] | undefined {
  const wrapped: number[] = [];
  let total = 0n;
  for (const { index, size } of sizes) {
    if (size > total) total += size;
    else wrapped.push(index);
  }
  return wrapped.length > 0 && wrapped.length <= MAX_WRAPPED && total <= 4n * p ? wrapped : undefined;
}

export class Solver {
  readonly field: Field;
  readonly values: (bigint | undefined)[];
  /** The values that are left for a variable without a value, if they are few. */
  readonly domains: (readonly bigint[] | undefined)[];
  readonly products: Product[] = [];
  readonly uses: number[][];
  /** Variables that must not be 0. */
  readonly nonzero: Uint8Array;
  /** Products that were 0 when they were visited last, while neither factor was known to be. Some may not be any more. */
  readonly vanishing = new Set<number>();
  /** Steps so far, each a constraint visited or a product of an elimination. */
  work = 0;
  /** How many variables of a side have no value. */
  readonly #open: number[] = [];
  readonly #undo: (() => void)[] = [];
  #lowest = 0;
  readonly #queue: number[] = [];
  readonly #queued: boolean[] = [];
  /** Products of which one factor was already concluded to be 0. */
  readonly #split: boolean[] = [];

  constructor(field: Field, variables: number) {
    this.field = field;
    this.values = Array.from({ length: variables });
    this.domains = Array.from({ length: variables });
    this.uses = Array.from({ length: variables }, () => []);
    this.nonzero = new Uint8Array(variables);
  }

  add(product: Product): void {
    const index = this.products.push(product) - 1;
    for (const side of product) {
      let open = 0;
      for (const [variable] of side.terms) {
        if (this.values[variable] === undefined) open++;
        const list = this.uses[variable] as number[];
        if (list.at(-1) !== index) list.push(index);
      }
      this.#open.push(open);
    }
    this.#enqueue(index);
  }

  /** Adds an equation that is forgotten when the search returns to an earlier point. */
  #addZero(form: Form): boolean {
    this.add([ZERO, ZERO, form]);
    this.#undo.push(() => {
      const [, , removed] = this.products.pop() as Product;
      this.#open.length -= 3;
      for (const [variable] of removed.terms) this.uses[variable]?.pop();
    });
    return true;
  }

  #enqueue(index: number): void {
    if (this.#queued[index]) return;
    this.#queued[index] = true;
    this.#queue.push(index);
  }

  get mark(): number {
    return this.#undo.length;
  }

  /** The lowest mark to which the search has returned since the last call. What was known there is still known. */
  takeLowest(): number {
    const lowest = this.#lowest;
    this.#lowest = this.mark;
    return Math.min(lowest, this.mark);
  }

  /** Takes back everything since `mark`. */
  rewind(mark: number): void {
    for (const index of this.#queue) this.#queued[index] = false;
    this.#queue.length = 0;
    while (this.#undo.length > mark) this.#undo.pop()?.();
    this.#lowest = Math.min(this.#lowest, mark);
  }

  require(variable: number): void {
    if (this.nonzero[variable] === 1) return;
    this.nonzero[variable] = 1;
    this.#undo.push(() => {
      this.nonzero[variable] = 0;
    });
    for (const index of this.uses[variable] as number[]) this.#enqueue(index);
  }

  assign(variable: number, value: bigint): boolean {
    const known = this.values[variable];
    if (known !== undefined) return known === value;
    if (value === 0n && this.nonzero[variable] === 1) return false;
    if (this.domains[variable]?.includes(value) === false) return false;
    this.#set(variable, value);
    return true;
  }

  #set(variable: number, value: bigint | undefined): void {
    const change = value === undefined ? 1 : -1;
    this.values[variable] = value;
    for (const index of this.uses[variable] as number[]) {
      const product = this.products[index] as Product;
      for (let side = 0; side < 3; side++)
        if ((product[side] as Form).terms.some(([one]) => one === variable))
          (this.#open[3 * index + side] as number) += change;
      if (value !== undefined) this.#enqueue(index);
    }
    if (value !== undefined) this.#undo.push(() => this.#set(variable, undefined));
  }

  #restrict(variable: number, roots: readonly bigint[]): boolean {
    const before = this.domains[variable];
    const left = roots.filter(
      (root, i) =>
        roots.indexOf(root) === i && before?.includes(root) !== false && !(root === 0n && this.nonzero[variable] === 1),
    );
    if (left.length === 0) return false;
    if (left.length === 1) return this.assign(variable, left[0] as bigint);
    if (before !== undefined && before.length <= left.length) return true;
    this.domains[variable] = left;
    this.#undo.push(() => {
      this.domains[variable] = before;
    });
    for (const index of this.uses[variable] as number[]) this.#enqueue(index);
    return true;
  }

  /** A form over the variables that have no value. */
  rest(form: Form): Form {
    let { constant } = form;
    const terms: (readonly [number, bigint])[] = [];
    for (const term of form.terms) {
      const value = this.values[term[0]];
      if (value === undefined) terms.push(term);
      else constant += term[1] * value;
    }
    return { constant: this.field.mod(constant), terms };
  }

  /** What is left of a constraint; a linear equation has A = B = 0. */
  left(index: number): Product {
    const [a, b, c] = (this.products[index] as Product).map((side) => this.rest(side)) as [Form, Form, Form];
    if (a.terms.length === 0) return [ZERO, ZERO, add(this.field, [1n, c], [-a.constant, b])];
    if (b.terms.length === 0) return [ZERO, ZERO, add(this.field, [1n, c], [-b.constant, a])];
    return [a, b, c];
  }

  isClosed(index: number): boolean {
    const at = 3 * index;
    return (this.#open[at] as number) + (this.#open[at + 1] as number) + (this.#open[at + 2] as number) === 0;
  }

  /** Draws every conclusion that one constraint allows. False if nothing satisfies the constraints. */
  propagate(): boolean {
    for (let index = this.#queue.pop(); index !== undefined; index = this.#queue.pop()) {
      this.#queued[index] = false;
      this.work++;
      const [a, b, c] = [0, 1, 2].map((side) => this.#open[3 * (index as number) + side]) as [number, number, number];
      // A long product, from which nothing can follow yet.
      if (a > 1 && b > 1 && c > 0) continue;
      if (!this.#visit(index, this.left(index))) return false;
    }
    return true;
  }

  isNonzero(form: Form): boolean {
    if (form.terms.length === 0) return form.constant !== 0n;
    if (form.terms.length > 1) return false;
    const [variable, coefficient] = form.terms[0] as readonly [number, bigint];
    if (form.constant === 0n && this.nonzero[variable] === 1) return true;
    const root = this.field.mod(-form.constant * this.field.inverse(coefficient));
    return this.domains[variable]?.includes(root) === false;
  }

  #visit(index: number, [a, b, c]: Product): boolean {
    if (a.terms.length === 0) return this.#linear(c);
    const variables = new Set([...a.terms, ...b.terms, ...c.terms].map(([variable]) => variable));
    if (variables.size === 1) return this.#square([...variables][0] as number, a, b, c);
    if (c.terms.length > 0 || c.constant !== 0n) return true;
    if (this.#split[index]) return true;
    const zero = this.isNonzero(a) ? b : this.isNonzero(b) ? a : undefined;
    if (zero !== undefined) return this.#splitAt(index, zero);
    this.vanishing.add(index);
    return true;
  }

  /** Whether a factor of this product is already 0. */
  isSplit(index: number): boolean {
    return this.#split[index] === true;
  }

  #splitAt(index: number, factor: Form): boolean {
    this.#split[index] = true;
    this.#undo.push(() => {
      this.#split[index] = false;
    });
    return this.#zero(factor);
  }

  /** A form is 0. */
  #zero(form: Form): boolean {
    return form.terms.length > 1 ? this.#addZero(form) : this.#linear(form);
  }

  #square(variable: number, a: Form, b: Form, c: Form): boolean {
    const [x, y, z] = [a, b, c].map(({ terms }) => terms[0]?.[1] ?? 0n) as [bigint, bigint, bigint];
    const roots = this.field.solve(
      this.field.mod(x * y),
      this.field.mod(x * b.constant + y * a.constant - z),
      this.field.mod(a.constant * b.constant - c.constant),
    );
    return roots === undefined || this.#restrict(variable, roots);
  }

  #linear(form: Form): boolean {
    const { terms, constant } = form;
    if (terms.length === 0) return constant === 0n;
    if (terms.length === 1) {
      const [variable, coefficient] = terms[0] as readonly [number, bigint];
      return this.assign(variable, this.field.mod(-constant * this.field.inverse(coefficient)));
    }
    if (terms.length > MAX_BITS || terms.some(([variable]) => this.domains[variable]?.length !== 2)) return true;
    const sums = this.#sums(form);
    if (sums === undefined) return true;
    if (sums.length > 1) {
      this.#ambiguous = { size: terms.length, choices: sums, terms };
      return true;
    }
    return sums.length === 1 && this.#bits(terms, sums[0] as readonly bigint[]);
  }

  #bits(terms: Form["terms"], values: readonly bigint[]): boolean {
    return terms.every(([variable], i) => this.assign(variable, values[i] as bigint));
  }

  /** The sum of bits that has few solutions and was seen last. Only a hint for choices. */
  #ambiguous: { size: number; choices: readonly (readonly bigint[])[]; terms: Form["terms"] } | undefined;

  /** Variables of two values each in a sum whose terms grow like powers of two: all solutions, if they are few. */
  #sums({ terms, constant }: Form): (readonly bigint[])[] | undefined {
    const { p } = this.field;
    const steps = terms.map(([variable, coefficient]) => {
      const [low, high] = this.domains[variable] as readonly [bigint, bigint];
      return { low, high, step: this.field.mod(coefficient * (high - low)), base: coefficient * low };
    });
    const start = steps.reduce((sum, { base }) => sum + base, constant);
    for (const unit of new Set([1n, steps[0]?.step as bigint, steps.at(-1)?.step as bigint])) {
      const scale = this.field.inverse(unit);
      let offset = this.field.mod(-start * scale);
      const sizes = steps.map(({ step, low, high }, index) => {
        const size = this.field.mod(step * scale);
        if (size <= p / 2n) return { index, size, low, high };
        // The other way round, the step is positive.
        offset += p - size;
        return { index, size: p - size, low: high, high: low };
      });
      sizes.sort((x, y) => (x.size < y.size ? -1 : x.size > y.size ? 1 : 0));
      let total = 0n;
      const grows = sizes.every(({ size }) => {
        const larger = size > total;
        total += size;
        return larger;
      });
      if (!grows || total > 4n * p) {
        this.#wrapped ??= wrappedOf(sizes, p)?.map((index) => (terms[index] as readonly [number, bigint])[0]);
        continue;
      }
      const found: bigint[][] = [];
      for (let target = this.field.mod(offset); target <= total; target += p) {
        let rest = target;
        const values: bigint[] = [];
        for (let i = sizes.length - 1; i >= 0; i--) {
          const { index, size, low, high } = sizes[i] as (typeof sizes)[number];
          values[index] = rest >= size ? high : low;
          if (rest >= size) rest -= size;
        }
        if (rest === 0n) found.push(values);
      }
      return found;
    }
    return undefined;
  }

  /** Variables of the highest bits of a sum, seen last, that is longer than the field, so that their powers of two are reduced. */
  #wrapped: readonly number[] | undefined;

  /** Solves the equations that are linear now, and then products in which they leave one variable. */
  eliminate(): boolean {
    const equations: Form[] = [];
    const products: Product[] = [];
    for (let index = 0; index < this.products.length; index++) {
      if (this.isClosed(index)) continue;
      const left = this.left(index);
      if (left[0].terms.length > 0) products.push(left);
      else if (left[2].terms.length > 1) equations.push(left[2]);
      if (equations.length > MAX_ROWS) return true;
    }
    const { field } = this;
    const solved = new Map<number, Form>();
    const containing = new Map<number, Set<number>>();
    let work = 0;
    const reduce = (form: Form): Form => {
      if (!form.terms.some(([variable]) => solved.has(variable))) return form;
      const parts: [bigint, Form][] = [[1n, { constant: form.constant, terms: [] }]];
      for (const [variable, value] of form.terms) {
        const replaced = solved.get(variable) ?? { constant: 0n, terms: [[variable, 1n]] as const };
        work += replaced.terms.length + 1;
        parts.push([value, replaced]);
      }
      return add(field, ...parts);
    };
    equations.sort((x, y) => x.terms.length - y.terms.length);
    for (const equation of equations) {
      if (work > MAX_ELIMINATION) return true;
      const { constant, terms } = reduce(equation);
      if (terms.length === 0) {
        if (constant !== 0n) return false;
        continue;
      }
      // Variables of few values stay, so that they remain what is guessed.
      const [pivot, coefficient] =
        terms.find(([variable]) => this.domains[variable] === undefined) ?? (terms[0] as readonly [number, bigint]);
      const scale = field.inverse(-coefficient);
      const form: Form = {
        constant: field.mod(constant * scale),
        terms: terms
          .filter(([variable]) => variable !== pivot)
          .map(([variable, value]) => [variable, field.mod(value * scale)]),
      };
      solved.set(pivot, form);
      for (const row of containing.get(pivot) ?? []) solved.set(row, reduce(solved.get(row) as Form));
      const rows = new Set([pivot, ...(containing.get(pivot) ?? [])]);
      for (const row of rows)
        for (const [variable] of (solved.get(row) as Form).terms)
          containing.set(variable, (containing.get(variable) ?? new Set()).add(row));
    }
    this.work += work + this.products.length;
    for (const [variable, form] of solved)
      if (form.terms.length === 0 && !this.assign(variable, form.constant)) return false;
    for (const product of products) {
      if (solved.size === 0) break;
      const sides = product.map((side) => reduce(side)) as unknown as Product;
      if (work > 2 * MAX_ELIMINATION) break;
      const variables = new Set(sides.flatMap(({ terms }) => terms.map(([variable]) => variable)));
      if (variables.size > 1) continue;
      const [only] = variables;
      const [a, b, c] = sides;
      if (only === undefined) {
        if (field.mod(a.constant * b.constant - c.constant) !== 0n) return false;
      } else if (this.values[only] === undefined && !this.#square(only, a, b, c)) return false;
    }
    return true;
  }

  /** A sum of bits that has several solutions, or more bits than the field, as choices for its highest bits. */
  get ambiguous(): readonly Choice[] | undefined {
    const [found, wrapped] = [this.#ambiguous, this.#wrapped];
    this.#ambiguous = undefined;
    this.#wrapped = undefined;
    if (found === undefined) {
      const bit = wrapped?.find((variable) => this.values[variable] === undefined);
      return bit === undefined ? undefined : this.domains[bit]?.map((value) => ({ variable: bit, value }));
    }
    const { choices, terms } = found;
    const different = terms.findIndex(
      ([variable], i) => this.values[variable] === undefined && choices.some((one) => one[i] !== choices[0]?.[i]),
    );
    if (different < 0) return undefined;
    const variable = (terms[different] as readonly [number, bigint])[0];
    return choices.map((one) => ({ variable, value: one[different] as bigint }));
  }

  #apply(choice: Choice): boolean {
    return "zero" in choice
      ? this.#splitAt(choice.product, this.rest(choice.zero))
      : this.assign(choice.variable, choice.value);
  }

  /** In a large system in rounds 0, 1, 2, 4, 8 and so on. */
  #eliminatesIn(round: number): boolean {
    const { length } = this.products;
    if (length < SMALL_SYSTEM) return true;
    return length < MEDIUM_SYSTEM ? round < 8 || round % 16 === 0 : (round & (round - 1)) === 0;
  }

  /**
   * Searches until every variable that matters has a value.
   * @param isOver says whether to stop
   * @returns false if no choice leads to a solution, or `isOver` said stop
   */
  search(choose: Chooser, conflicts: number, isOver: () => boolean): boolean {
    const stack: { choices: readonly Choice[]; next: number; mark: number }[] = [];
    let left = conflicts;
    let fine = this.propagate();
    for (let round = 0; !isOver(); round++) {
      // Elimination costs more than a guess, so a long search does it less often.
      if (fine && this.#eliminatesIn(round)) {
        const before = this.mark;
        fine = this.eliminate() && this.propagate();
        if (fine && this.mark > before) continue;
      }
      if (fine) {
        const choices = this.ambiguous ?? choose(this);
        if (choices === undefined) return true;
        stack.push({ choices, next: 0, mark: this.mark });
      }
      fine = false;
      while (!fine) {
        const top = stack.at(-1);
        if (top === undefined || left-- < 0) return false;
        this.rewind(top.mark);
        const choice = top.choices[top.next++];
        if (choice === undefined) {
          stack.pop();
          continue;
        }
        fine = this.#apply(choice) && this.propagate();
        if (fine) left++;
      }
    }
    return false;
  }
}
