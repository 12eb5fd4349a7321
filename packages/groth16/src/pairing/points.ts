/**
 * Points of y^2 = x^3 + b in Jacobian coordinates: (X, Y, Z) is the point (X/Z^2, Y/Z^3), and Z = 0 is infinity. All coordinates in
 * memory are small (src/pairing/limbs.ts). Additions are complete: equal, opposite and infinite points have branches of their own.
 */
import type { Code, Local, ModuleBuilder } from "../fast/assembler.ts";
import { i32, leave, when } from "../fast/instructions.ts";
import type { FieldCode } from "./field.ts";
import { after, copy, type Element, elementsAt, Formula } from "./formula.ts";
import type { Layout } from "./memory.ts";

/** Functions of a curve's points; arguments are addresses. `out` may be an operand. */
export interface PointCode {
  double(out: Code, a: Code): Code;
  add(out: Code, a: Code, b: Code): Code;
  /** Adds an affine point, which is not infinity. */
  addMixed(out: Code, a: Code, b: Code): Code;
  negate(out: Code, a: Code): Code;
  copy(out: Code, a: Code): Code;
}

type Coordinates = readonly [x: Element, y: Element, z: Element];

/**
 * Defines the functions of the points of a curve, and `affine`: x and y of a point that is not infinity, and `isOnCurve` of an affine point.
 * @param b the address of the curve's constant
 */
export function definePoints(
  module: ModuleBuilder,
  layout: Layout,
  field: FieldCode,
  invert: (out: Code, a: Code) => Code,
  b: Code,
): PointCode {
  const { degree, bytes } = field;
  const formula = (): Formula => new Formula(field, layout);
  const one = i32.const(layout.constant(1n, ...(degree === 2 ? [0n] : [])));
  const coordinates = (address: Code): Coordinates => elementsAt(field, address, 3) as unknown as Coordinates;

  const copyPoint = module.define(`copyPoint${degree}`, ["i32", "i32"], (f) => {
    const [out, from] = f.params.map((local) => local.get) as [Code, Code];
    return copy(out, from, 3 * bytes);
  });

  // Doubling uses A = X^2, B = Y^2, C = B^2, D = 4·X·B = 2((X + B)^2 - A - C) and E = 3·A; infinity stays infinity.
  const double = module.define(`double${degree}`, ["i32", "i32"], (f) => {
    const [out, from] = f.params.map((local) => local.get) as [Code, Code];
    const [x, y, z] = coordinates(from);
    const to = formula();
    const A = to.square(x);
    const B = to.square(y);
    const C = to.square(B);
    const D = to.sum([
      [2, to.square(to.loose([1, x], [1, B]))],
      [-2, A],
      [-2, C],
    ]);
    const E = to.sum([[3, A]]);
    const yz = to.multiply(y, z);
    const X = to.sum(
      [
        [1, to.square(E)],
        [-2, D],
      ],
      out,
    );
    const product = to.multiply(E, to.loose([1, D], [-1, X]));
    to.sum(
      [
        [1, product],
        [-8, C],
      ],
      after(out, bytes),
    );
    to.sum([[2, yz]], after(out, 2 * bytes));
    return to.code;
  });

  /** Adds points of which neither is infinity. @param isMixed whether the right one is affine */
  const addition = (to: Formula, out: Code, left: Code, right: Code, isMixed: boolean): void => {
    const [x1, y1, z1] = coordinates(left);
    const [x2, y2, z2] = coordinates(right);
    const square1 = to.square(z1);
    const cube1 = to.multiply(square1, z1);
    const [u2, s2] = [to.multiply(x2, square1), to.multiply(y2, cube1)];
    const square2 = isMixed ? undefined : to.square(z2);
    const u1 = square2 === undefined ? x1 : to.multiply(x1, square2);
    const s1 = square2 === undefined ? y1 : to.multiply(y1, to.multiply(square2, z2));
    const [h, r] = [
      to.sum([
        [1, u2],
        [-1, u1],
      ]),
      to.sum([
        [1, s2],
        [-1, s1],
      ]),
    ];
    // Equal x-coordinates: the points are equal, or opposite, which gives Z = 0 below.
    to.run(when(field.isZero(h.at), when(field.isZero(r.at), double(out, left), leave)));
    const z = isMixed ? z1 : to.multiply(z1, z2);
    const hh = to.square(h);
    const hhh = to.multiply(h, hh);
    const v = to.multiply(u1, hh);
    const tail = to.multiply(s1, hhh);
    to.multiply(z, h, after(out, 2 * bytes));
    const X = to.sum(
      [
        [1, to.square(r)],
        [-1, hhh],
        [-2, v],
      ],
      out,
    );
    const product = to.multiply(r, to.loose([1, v], [-1, X]));
    to.sum(
      [
        [1, product],
        [-1, tail],
      ],
      after(out, bytes),
    );
  };

  const add = module.define(`add${degree}`, ["i32", "i32", "i32"], (f) => {
    const [out, left, right] = f.params.map((local) => local.get) as [Code, Code, Code];
    const to = formula();
    to.run(
      when(field.isZero(after(left, 2 * bytes)), copyPoint(out, right), leave),
      when(field.isZero(after(right, 2 * bytes)), copyPoint(out, left), leave),
    );
    addition(to, out, left, right, false);
    return to.code;
  });

  const addMixed = module.define(`addMixed${degree}`, ["i32", "i32", "i32"], (f) => {
    const [out, left, right] = f.params.map((local) => local.get) as [Code, Code, Code];
    const to = formula();
    to.run(
      when(
        field.isZero(after(left, 2 * bytes)),
        copy(out, right, 2 * bytes),
        copy(after(out, 2 * bytes), one, bytes),
        leave,
      ),
    );
    addition(to, out, left, right, true);
    return to.code;
  });

  const negate = module.define(`negate${degree}`, ["i32", "i32"], (f) => {
    const [out, from] = f.params.map((local) => local.get) as [Code, Code];
    const y = after(out, bytes);
    return [copyPoint(out, from), field.sum([-1], false)(y, y)];
  });

  module.define(`affine${degree}`, ["i32", "i32"], (f) => {
    const [out, from] = f.params.map((local) => local.get) as [Code, Code];
    const [x, y, z] = coordinates(from);
    const to = formula();
    const inverse = { at: to.place(), weight: 1 };
    to.run(invert(inverse.at, z.at));
    const square = to.square(inverse);
    const cube = to.multiply(square, inverse);
    to.multiply(x, square, out);
    to.multiply(y, cube, after(out, bytes));
    return to.code;
  });

  module.define(
    `isOnCurve${degree}`,
    ["i32"],
    (f) => {
      const [x, y] = elementsAt(field, (f.params[0] as Local).get, 2) as [Element, Element];
      const to = formula();
      const cube = to.multiply(to.square(x), x);
      const difference = to.sum([
        [1, to.square(y)],
        [-1, cube],
        [-1, { at: b, weight: 1 }],
      ]);
      return [to.code, field.isZero(difference.at)];
    },
    ["i32"],
  );

  return { double, add, addMixed, negate, copy: copyPoint };
}
