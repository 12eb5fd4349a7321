import type { Form } from "./form.ts";
import type { Point, Product } from "./points.ts";

/** A constraint that gives a wire its value, once its other wires have one. */
export interface Definition {
  readonly by: number;
  readonly wire: number;
}

/**
 * A fact about the points of a ladder by Montgomery's formulas, in every satisfying assignment. `forms` are not 0, and `result`
 * is a point of the curve, without a scale. Numbers that name facts are indices of earlier steps.
 */
export type LadderFact =
  /** The point is multiples[m] times `base`, for the number m of the bits; `base` is a constant, in Edwards form. */
  | {
      rule: "table";
      bits: readonly number[];
      definitions: readonly Definition[];
      base: readonly [x: bigint, y: bigint];
      multiples: readonly bigint[];
      result: Point;
    }
  /** The Montgomery form of an Edwards point whose x is not 0, as the fact `nonzero` shows. */
  | {
      rule: "lift";
      edwards: number;
      nonzero: number;
      u: Product;
      v: Product;
      forms: readonly [below: Form];
      result: Point;
    }
  | {
      rule: "twice";
      point: number;
      square: Product;
      slope: Product;
      first: Product;
      second: Product;
      forms: readonly [Form];
      result: Point;
    }
  | {
      rule: "sum";
      first: number;
      second: number;
      line: Product;
      square: Product;
      last: Product;
      forms: readonly [Form];
      result: Point;
    }
  /** The point `zero` if the bit is 0, otherwise the point `one`. */
  | { rule: "choice"; bit: number; zero: number; one: number; u: Product; v: Product; result: Point }
  /** The Edwards form (x.left, y.left) of a point. */
  | { rule: "lower"; point: number; x: Product; y: Product; forms: readonly [v: Form, above: Form, x: Form] }
  /**
   * An Edwards point (x, y), or `base` if x is 0: then the wire `flag` is 1, otherwise 0. `empty` is x flag = 0, and `full` is x
   * times something = 1 - flag.
   */
  | {
      rule: "replace";
      edwards: number;
      flag: number;
      empty: Product;
      full: Product;
      base: readonly [x: bigint, y: bigint];
      x: Product;
      y: Product;
      coordinates: readonly [x: Form, y: Form];
      forms: readonly [x: Form];
    };
