import type { Form } from "./form.ts";

/** left * right = result follows from constraint `by`; from arithmetic alone if `by` is -1 (a factor is constant). */
export interface Product {
  readonly by: number;
  readonly left: Form;
  readonly right: Form;
  readonly result: Form;
}

/**
 * (u / w^2, v / w^3) is a point of the curve other than (0, 0) and the identity, for the w of step `scale`; w = 1 if
 * `scale` is undefined.
 */
export interface Point {
  readonly u: Form;
  readonly v: Form;
  readonly scale: number | undefined;
}
