import type { Form } from "./form.ts";
import type { LadderFact } from "./ladder-steps.ts";
import type { Point, Product } from "./points.ts";

/** A constraint times a constant: scale (A B - C). */
export interface Scaled {
  readonly by: number;
  readonly scale: bigint;
}

/**
 * The number of the bits `wires`, each times 2 to its exponent, is at most `bound`; with `out`, it is so if and only if the
 * bit `out` is 0. It follows from the sum of `terms`, modulo `modulus`.
 */
export interface Comparison {
  readonly terms: readonly Scaled[];
  readonly wires: readonly number[];
  readonly exponents: readonly number[];
  readonly bound: bigint;
  readonly modulus: bigint;
  readonly out?: number;
}

/** A fact about every satisfying assignment. Numbers that name facts are indices of earlier steps. */
export type Fact =
  | { rule: "boolean"; by: number; wire: number }
  | { rule: "inverse"; by: number; forms: readonly Form[] }
  | { rule: "curve"; u: Form; v: Form; square: Product; cubic: Product; root: Product }
  | {
      rule: "double";
      point: number;
      square: Product;
      slope: Product;
      /** Without `result`: the form that is not 0. */
      form?: Form;
      first?: Product;
      second?: Product;
      result?: Point;
      unit?: string | undefined;
    }
  | { rule: "odd"; point: number; form: Form }
  | { rule: "scale"; point: number; square: Product; cubes: readonly Product[] }
  | { rule: "sign"; scale: number; wire: number; by: number }
  | {
      rule: "step";
      sum: number;
      unit: number;
      sign: number;
      slope: Product;
      first: Product;
      forms: readonly [Form, Form];
    }
  | { rule: "stepped"; step: number; line: Product; third: Product; last: Product; result: Point }
  | {
      rule: "window";
      by: number;
      other: number;
      uWire: number;
      vWire: number;
      scale: number | undefined;
      wires: readonly number[];
      centre: bigint;
      parts: readonly bigint[];
    }
  | { rule: "start"; point: Point; wires: readonly number[]; centre: bigint; parts: readonly bigint[] }
  | { rule: "add"; sum: number; window: number; line: Product; form: Form }
  | { rule: "added"; add: number; first: Product; second: Product; result: Point }
  | { rule: "minus_one"; point: number; form: Form }
  | { rule: "edwards"; point: number; x: Product; y: Product }
  | { rule: "baby_check"; by: number; x: Product; y: Product }
  | {
      rule: "complete";
      first: number;
      second: number;
      constant: readonly [Form, Form] | undefined;
      beta: Product;
      gamma: Product;
      tau: Product;
      forms: readonly [Form, Form];
    }
  | { rule: "completed"; complete: number; delta: Product; x: Product; y: Product }
  /**
   * Constraint `by` is form X = N, and form + e w N = c - k w^2 once each definition's wire has the value that its constraint
   * gives it. w is the product of `root`. c / k has no root, or k is 0 and c is not.
   */
  | {
      rule: "nonsquare";
      by: number;
      form: Form;
      root: readonly Form[];
      c: bigint;
      k: bigint;
      e: bigint;
      definitions: readonly { readonly by: number; readonly wire: number }[];
    }
  | ({ rule: "compare" } & Comparison)
  /** `form` is a multiple of the square's result minus a number without a root. */
  | { rule: "rootless"; square: Product; form: Form }
  | LadderFact;

/** Division with remainder of numbers in limbs: quotient D + remainder = a determined number, and 0 <= remainder < D. */
export interface LongDivision {
  readonly rule: "long_division";
  /** Constraints that give a wire as a sum of wires whose range is known: bits, and the wires of earlier entries. */
  readonly ranges: readonly { readonly by: number; readonly wire: number }[];
  /** Wires shown to be 0 or 1: F wire = 0, and F Y is a multiple of 1 - wire. */
  readonly flags: readonly { readonly zero: number; readonly other: number; readonly wire: number }[];
  /** Sums of constraints that are 0 as integers. Their sum with these weights is the division. */
  readonly equations: readonly { readonly terms: readonly Scaled[]; readonly weight: bigint }[];
  /** Wires of that sum which are 0, because their factors exceed all other terms. */
  readonly vanishing: readonly number[];
  /** The quotient is the sum of these wires times their weights. */
  readonly quotient: readonly { readonly wire: number; readonly weight: bigint }[];
  /** The remainder's limbs, each with what compares it with the divisor's limb. */
  readonly remainder: readonly Limb[];
  /** Bits that tell which limbs are less or equal, and the wires that constraints compute from them. */
  readonly leaves: readonly number[];
  readonly definitions: readonly { readonly by: number; readonly wire: number }[];
  /** Constraints of these bits and wires that exclude the choices for which the remainder is not below D. */
  readonly checks: readonly number[];
}

/** A limb of a remainder. */
export interface Limb {
  readonly wire: number;
  readonly weight: bigint;
  /** Their sum is the limb less the divisor's limb, and bits. */
  readonly terms: readonly Scaled[];
  /** Constraint `by` is flag X = 0, where X and the sum of `terms` are a multiple of the limb less the divisor's limb. */
  readonly equal?: { readonly by: number; readonly flag: number; readonly terms: readonly Scaled[] };
}

/** A step that determines wires: two satisfying assignments that agree on all earlier ones agree on these. */
export type Determination =
  | { rule: "linear"; by: number; wire: number; nonzero: number }
  | {
      rule: "bits";
      by: number;
      wires: readonly number[];
      /** Constraints that are added to `by`, so that only bits are left. */
      more?: readonly Scaled[];
      /** The comparison that bounds the number of the bits; without it, all sums of the bits differ. */
      below?: number;
    }
  | { rule: "one_hot"; by: number; wires: readonly number[]; flags: readonly number[] }
  | { rule: "case"; zero: number; other: number; wire: number }
  /** Two constraints that are linear in the wire, with factors that are not both 0. */
  | { rule: "either"; by: readonly [number, number]; wire: number }
  /** A square root whose bits are at most (P - 1) / 2, or tell whether they are. */
  | {
      rule: "root";
      /** wire wire = something determined. */
      by: number;
      wire: number;
      /** The constraint that gives the wire's bits. */
      sum: number;
      /** The comparison that bounds their number; absent if their sum is small enough. */
      below?: number;
      /** The comparison with (P - 1) / 2 whose result is determined. */
      half?: number;
    }
  /** Division with remainder. Without `divisor`, it is a constant. */
  | {
      rule: "division";
      by: number;
      quotient: number;
      remainder: number;
      divisor?: number;
      /** The constraints that give the bits of quotient, remainder and divisor; -1 for a bit. */
      ranges: readonly number[];
      /** The constraints that say that the remainder is below the divisor; none if its range does. */
      less: readonly Scaled[];
    }
  | LongDivision
  | { rule: "system"; wires: readonly number[]; by: readonly number[] }
  /** A wire shown to be w or -w that is taken as given, like an input. */
  | { rule: "sign"; wire: number; by: number };
