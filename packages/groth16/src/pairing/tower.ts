/**
 * Fq6 = Fq2[v]/(v^3 - XI) and Fq12 = Fq6[w]/(w^2 - v): an element of Fq12 is six of Fq2, the coefficients of 1, v, v^2, w, vw and v^2·w.
 * All elements that functions take and return are small. Sources: Devegili, O hEigeartaigh, Scott, Dahab, "Multiplication and
 * squaring on pairing-friendly fields" (eprint 2006/471); Granger, Scott, "Faster squaring in the cyclotomic subgroup" (eprint 2009/565).
 */
import type { Code, Local, ModuleBuilder } from "../fast/assembler.ts";
import { i32 } from "../fast/instructions.ts";
import type { FieldCode } from "./field.ts";
import { after, copy, type Element, elementsAt, Formula, type Term } from "./formula.ts";
import type { Layout } from "./memory.ts";
import { PAIR_BYTES } from "./memory.ts";
import { frobeniusFactor, XI } from "./parameters.ts";

export const SEXTIC_BYTES = 3 * PAIR_BYTES;
export const TARGET_BYTES = 6 * PAIR_BYTES;
const MINUS_XI = [-XI[0], -XI[1]] as const;
/** 3·XI. */
const THREE_XI = [3 * XI[0], 3 * XI[1]] as const;

/** Coefficients of 1, v and v^2. */
type Triple = readonly [Element, Element, Element];

/** Functions of Fq12; arguments are addresses. `out` may be an operand. */
export interface TowerCode {
  multiply(out: Code, a: Code, b: Code): Code;
  square(out: Code, a: Code): Code;
  /** The square of an element of the cyclotomic subgroup, whose order divides q^4 - q^2 + 1. */
  squareCyclotomic(out: Code, a: Code): Code;
  invert(out: Code, a: Code): Code;
  copy(out: Code, a: Code): Code;
  /** a to the power q^6: the inverse in the cyclotomic subgroup. */
  conjugate(out: Code, a: Code): Code;
  /** a to the power q. */
  frobenius(out: Code, a: Code): Code;
  /** f times yP·l0 + xP·l1·w + l2·v·w, a line at the point P. */
  multiplyByLine(f: Code, line: Code, point: Code): Code;
}

/** Functions of Fq2 that the curves use too. */
export interface PairCode {
  conjugate(out: Code, a: Code): Code;
  invert(out: Code, a: Code): Code;
  /** Times an element of Fq. */
  scale(out: Code, a: Code, factor: Code): Code;
}

/** Defines the functions of Fq2 that are not in `FieldCode`. @param invert of Fq */
export function definePairs(
  module: ModuleBuilder,
  layout: Layout,
  one: FieldCode,
  invert: (out: Code, a: Code) => Code,
): PairCode {
  const half = PAIR_BYTES / 2;
  const parameters = ["i32", "i32"] as const;
  return {
    conjugate: module.define("conjugate2", parameters, (f) => {
      const [out, a] = f.params.map((local) => local.get) as [Code, Code];
      return [copy(out, a, half), one.sum([-1], false)(after(out, half), after(a, half))];
    }),
    // 1/(a0 + a1·i) = (a0 - a1·i)/(a0^2 + a1^2).
    invert: module.define("invert2", parameters, (f) => {
      const [out, a] = f.params.map((local) => local.get) as [Code, Code];
      const formula = new Formula(one, layout);
      const [a0, a1] = elementsAt(one, a, 2) as [Element, Element];
      const norm = formula.sum([
        [1, formula.square(a0)],
        [1, formula.square(a1)],
      ]);
      const inverse = { at: formula.place(), weight: 1 };
      formula.run(invert(inverse.at, norm.at));
      formula.multiply(a0, inverse, out);
      formula.multiply(formula.loose([-1, a1]), inverse, after(out, half));
      return formula.code;
    }),
    scale: module.define("scale2", ["i32", "i32", "i32"], (f) => {
      const [out, a, factor] = f.params.map((local) => local.get) as [Code, Code, Code];
      return [one.multiply(out, a, factor), one.multiply(after(out, half), after(a, half), factor)];
    }),
  };
}

export function defineTower(module: ModuleBuilder, layout: Layout, field: FieldCode, pairs: PairCode): TowerCode {
  const binary = ["i32", "i32"] as const;
  const ternary = ["i32", "i32", "i32"] as const;
  const formula = (): Formula => new Formula(field, layout);
  const addresses = ({ params }: { params: readonly Local[] }): Code[] => params.map((local) => local.get);
  const triple = (address: Code): Triple => elementsAt(field, address, 3) as unknown as Triple;
  const scratch = (bytes: number): Code => i32.const(layout.scratch(bytes));
  /** Three sums, stored one after the other. */
  const sums = (to: Formula, out: Code, ...each: readonly (readonly Term[])[]): void => {
    for (const [index, terms] of each.entries()) to.sum(terms, after(out, index * PAIR_BYTES));
  };

  // Karatsuba's method: six products.
  const multiply6 = module.define("multiply6", ternary, (f) => {
    const [out, a, b] = addresses(f) as [Code, Code, Code];
    const [[a0, a1, a2], [b0, b1, b2]] = [triple(a), triple(b)];
    const to = formula();
    const both = (x: Element, y: Element): Element => to.loose([1, x], [1, y]);
    const [v0, v1, v2] = [to.multiply(a0, b0), to.multiply(a1, b1), to.multiply(a2, b2)];
    const [m12, m01, m02] = [
      to.multiply(both(a1, a2), both(b1, b2)),
      to.multiply(both(a0, a1), both(b0, b1)),
      to.multiply(both(a0, a2), both(b0, b2)),
    ];
    sums(
      to,
      out,
      [
        [1, v0],
        [XI, m12],
        [MINUS_XI, v1],
        [MINUS_XI, v2],
      ],
      [
        [1, m01],
        [-1, v0],
        [-1, v1],
        [XI, v2],
      ],
      [
        [1, m02],
        [-1, v0],
        [-1, v2],
        [1, v1],
      ],
    );
    return to.code;
  });

  const multiply = module.define("multiply12", ternary, (f) => {
    const [out, a, b] = addresses(f) as [Code, Code, Code];
    const [low, high, cross, left, right] = Array.from({ length: 5 }, () => scratch(SEXTIC_BYTES)) as Code[] as [
      ...[Code, Code, Code, Code, Code],
    ];
    const to = formula();
    const addHalves = (into: Code, x: Code): void => {
      const [first, second] = [triple(x), triple(after(x, SEXTIC_BYTES))];
      sums(
        to,
        into,
        ...first.map((part, index): Term[] => [
          [1, part],
          [1, second[index] as Element],
        ]),
      );
    };
    to.run(multiply6(low, a, b), multiply6(high, after(a, SEXTIC_BYTES), after(b, SEXTIC_BYTES)));
    addHalves(left, a);
    addHalves(right, b);
    to.run(multiply6(cross, left, right));
    const [[l0, l1, l2], [h0, h1, h2], [m0, m1, m2]] = [triple(low), triple(high), triple(cross)];
    sums(
      to,
      out,
      [
        [1, l0],
        [XI, h2],
      ],
      [
        [1, l1],
        [1, h0],
      ],
      [
        [1, l2],
        [1, h1],
      ],
    );
    sums(
      to,
      after(out, SEXTIC_BYTES),
      [
        [1, m0],
        [-1, l0],
        [-1, h0],
      ],
      [
        [1, m1],
        [-1, l1],
        [-1, h1],
      ],
      [
        [1, m2],
        [-1, l2],
        [-1, h2],
      ],
    );
    return to.code;
  });

  // (a + b·w)^2 = (a + b)(a + v·b) - a·b - v·a·b + 2·a·b·w.
  const square = module.define("square12", binary, (f) => {
    const [out, x] = addresses(f) as [Code, Code];
    const [[a0, a1, a2], [b0, b1, b2]] = [triple(x), triple(after(x, SEXTIC_BYTES))];
    const [product, left, right, both] = Array.from({ length: 4 }, () => scratch(SEXTIC_BYTES)) as Code[] as [
      ...[Code, Code, Code, Code],
    ];
    const to = formula();
    to.run(multiply6(product, x, after(x, SEXTIC_BYTES)));
    sums(
      to,
      left,
      [
        [1, a0],
        [1, b0],
      ],
      [
        [1, a1],
        [1, b1],
      ],
      [
        [1, a2],
        [1, b2],
      ],
    );
    sums(
      to,
      right,
      [
        [1, a0],
        [XI, b2],
      ],
      [
        [1, a1],
        [1, b0],
      ],
      [
        [1, a2],
        [1, b1],
      ],
    );
    to.run(multiply6(both, left, right));
    const [[p0, p1, p2], [m0, m1, m2]] = [triple(product), triple(both)];
    sums(
      to,
      out,
      [
        [1, m0],
        [-1, p0],
        [MINUS_XI, p2],
      ],
      [
        [1, m1],
        [-1, p1],
        [-1, p0],
      ],
      [
        [1, m2],
        [-1, p2],
        [-1, p1],
      ],
    );
    sums(to, after(out, SEXTIC_BYTES), [[2, p0]], [[2, p1]], [[2, p2]]);
    return to.code;
  });

  // With y = w^3, Fq12 is Fq4[w]/(w^3 - y) and Fq4 = Fq2[y]/(y^2 - XI). In the cyclotomic subgroup, the square of A + B·w + C·w^2 is
  // 3·A^2 - 2·A' + (3·y·C^2 + 2·B')·w + (3·B^2 - 2·C')·w^2, where A' is A with y negated (Granger and Scott, section 3.1).
  const squareCyclotomic = module.define("squareCyclotomic", binary, (f) => {
    const [out, x] = addresses(f) as [Code, Code];
    const to = formula();
    const [x0, x1, x2, y0, y1, y2] = elementsAt(field, x, 6) as Element[] as [
      ...[Element, Element, Element, Element, Element, Element],
    ];
    /** The squares of a, b and a + b; (a + b·y)^2 = a^2 + XI·b^2 + ((a + b)^2 - a^2 - b^2)·y. */
    const squares = (a: Element, b: Element): Triple => {
      return [to.square(a), to.square(b), to.square(to.loose([1, a], [1, b]))];
    };
    const [[a, b, ab], [c, d, cd], [e, g, eg]] = [squares(x0, y1), squares(y0, x2), squares(x1, y2)];
    const [minusThreeXi, place] = [
      [-THREE_XI[0], -THREE_XI[1]] as const,
      (index: number) => after(out, index * PAIR_BYTES),
    ];
    to.sum(
      [
        [3, a],
        [THREE_XI, b],
        [-2, x0],
      ],
      place(0),
    );
    to.sum(
      [
        [3, ab],
        [-3, a],
        [-3, b],
        [2, y1],
      ],
      place(4),
    );
    to.sum(
      [
        [3, c],
        [THREE_XI, d],
        [-2, x1],
      ],
      place(1),
    );
    to.sum(
      [
        [3, cd],
        [-3, c],
        [-3, d],
        [2, y2],
      ],
      place(5),
    );
    to.sum(
      [
        [THREE_XI, eg],
        [minusThreeXi, e],
        [minusThreeXi, g],
        [2, y0],
      ],
      place(3),
    );
    to.sum(
      [
        [3, e],
        [THREE_XI, g],
        [-2, x2],
      ],
      place(2),
    );
    return to.code;
  });

  // 1/(a0 + a1·v + a2·v^2) = (A + B·v + C·v^2)/F.
  const invert6 = module.define("invert6", binary, (f) => {
    const [out, a] = addresses(f) as [Code, Code];
    const [a0, a1, a2] = triple(a);
    const to = formula();
    const A = to.sum([
      [1, to.square(a0)],
      [MINUS_XI, to.multiply(a1, a2)],
    ]);
    const B = to.sum([
      [XI, to.square(a2)],
      [-1, to.multiply(a0, a1)],
    ]);
    const C = to.sum([
      [1, to.square(a1)],
      [-1, to.multiply(a0, a2)],
    ]);
    const F = to.sum([
      [1, to.multiply(a0, A)],
      [XI, to.multiply(a2, B)],
      [XI, to.multiply(a1, C)],
    ]);
    const inverse = { at: to.place(), weight: 1 };
    to.run(pairs.invert(inverse.at, F.at));
    for (const [index, factor] of [A, B, C].entries()) to.multiply(factor, inverse, after(out, index * PAIR_BYTES));
    return to.code;
  });

  // 1/(a + b·w) = (a - b·w)/(a^2 - v·b^2).
  const invert = module.define("invert12", binary, (f) => {
    const [out, x] = addresses(f) as [Code, Code];
    const [first, second] = [x, after(x, SEXTIC_BYTES)];
    const [low, high] = [scratch(SEXTIC_BYTES), scratch(SEXTIC_BYTES)];
    const to = formula();
    to.run(multiply6(low, first, first), multiply6(high, second, second));
    const [[l0, l1, l2], [h0, h1, h2]] = [triple(low), triple(high)];
    sums(
      to,
      low,
      [
        [1, l0],
        [MINUS_XI, h2],
      ],
      [
        [1, l1],
        [-1, h0],
      ],
      [
        [1, l2],
        [-1, h1],
      ],
    );
    to.run(invert6(high, low), multiply6(out, first, high), multiply6(low, second, high));
    sums(to, after(out, SEXTIC_BYTES), [[-1, l0]], [[-1, l1]], [[-1, l2]]);
    return to.code;
  });

  const copyTarget = module.define("copy12", binary, (f) => {
    const [out, x] = addresses(f) as [Code, Code];
    return copy(out, x, TARGET_BYTES);
  });

  const conjugate = module.define("conjugate12", binary, (f) => {
    const [out, x] = addresses(f) as [Code, Code];
    const to = formula();
    for (let index = 0; index < 6; index++) {
      const place = index * PAIR_BYTES;
      to.sum([[index < 3 ? 1 : -1, { at: after(x, place), weight: 1 }]], after(out, place));
    }
    return to.code;
  });

  const frobenius = module.define("frobenius", binary, (f) => {
    const [out, x] = addresses(f) as [Code, Code];
    const conjugated = scratch(PAIR_BYTES);
    // The powers of w at the six places.
    return [0, 2, 4, 1, 3, 5].map((power, index) => {
      const [from, to] = [after(x, index * PAIR_BYTES), after(out, index * PAIR_BYTES)];
      const factor = i32.const(layout.constant(...frobeniusFactor(power)));
      return [pairs.conjugate(conjugated, from), field.multiply(to, conjugated, factor)];
    });
  });

  const multiplyByLine = module.define("multiplyByLine", ternary, (f) => {
    const [x, line, point] = addresses(f) as [Code, Code, Code];
    const [a, b] = [triple(x), triple(after(x, SEXTIC_BYTES))];
    const lines = triple(line);
    const to = formula();
    const [l0, l1, l2] = [{ at: to.place(), weight: 1 }, { at: to.place(), weight: 1 }, lines[2]];
    to.run(pairs.scale(l0.at, line, after(point, PAIR_BYTES / 2)), pairs.scale(l1.at, lines[1].at, point));
    const both = (left: Element, right: Element): Element => to.loose([1, left], [1, right]);
    /** The products of c0 + c1·v + c2·v^2 and m + n·v: c0·m, c1·n, c2·n, c2·m and (c0 + c1)(m + n). */
    const products = ([c0, c1, c2]: Triple, m: Element, n: Element, c01: Element) => [
      ...[to.multiply(c0, m), to.multiply(c1, n), to.multiply(c2, n), to.multiply(c2, m)],
      to.multiply(c01, both(m, n)),
    ];
    const t = a.map((part) => to.multiply(part, l0)) as unknown as Triple;
    const [u, z, w, y, m] = products(b, l1, l2, both(b[0], b[1])) as Element[] as [
      ...[Element, Element, Element, Element, Element],
    ];
    const ab = a.map((part, index) => both(part, b[index] as Element)) as unknown as Triple;
    const [U, Z, W, Y, M] = products(
      ab,
      both(l0, l1),
      l2,
      to.sum([
        [1, ab[0]],
        [1, ab[1]],
      ]),
    ) as Element[] as [...[Element, Element, Element, Element, Element]];
    // With s = b·(l1 + l2·v): low half t + v·s; high half (a + b)(l0 + l1 + l2·v) - t - s.
    sums(
      to,
      x,
      [
        [1, t[0]],
        [XI, y],
        [XI, z],
      ],
      [
        [1, t[1]],
        [1, u],
        [XI, w],
      ],
      [
        [1, t[2]],
        [1, m],
        [-1, u],
        [-1, z],
      ],
    );
    sums(
      to,
      after(x, SEXTIC_BYTES),
      [
        [1, U],
        [XI, W],
        [-1, t[0]],
        [-1, u],
        [MINUS_XI, w],
      ],
      [
        [1, M],
        [-1, U],
        [-1, Z],
        [-1, t[1]],
        [-1, m],
        [1, u],
        [1, z],
      ],
      [
        [1, Y],
        [1, Z],
        [-1, t[2]],
        [-1, y],
        [-1, z],
      ],
    );
    return to.code;
  });

  return { copy: copyTarget, multiply, square, squareCyclotomic, invert, conjugate, frobenius, multiplyByLine };
}
