/**
 * The optimal ate pairing of BN254 (Vercauteren, eprint 2008/096): f = Miller loop of 6x + 2 at Q, times the lines through
 * [6x + 2]Q and ψ(Q), and through [6x + 2]Q + ψ(Q) and -ψ^2(Q), to the power (q^12 - 1)/r. ψ is the twist's Frobenius endomorphism.
 *
 * With the untwist (x, y) -> (x·w^2, y·w^3), the line through points of the twist with the slope s is yP - s·xP·w + (s·x - y)·w^3
 * at P. Lines are stored as three elements of Fq2, for yP, xP·w and w^3 = v·w, times a factor in Fq2, which the final
 * exponentiation removes.
 */
import type { Code, Local, ModuleBuilder } from "../fast/assembler.ts";
import { i32, increase, loop } from "../fast/instructions.ts";
import type { FieldCode } from "./field.ts";
import { after, copy, type Element, elementsAt, Formula } from "./formula.ts";
import type { Layout } from "./memory.ts";
import { PAIR_BYTES } from "./memory.ts";
import { frobeniusFactor, signedDigits, TWIST_B, X } from "./parameters.ts";
import type { PointCode } from "./points.ts";
import { type PairCode, SEXTIC_BYTES, TARGET_BYTES, type TowerCode } from "./tower.ts";

/** Size of a line. */
const LINE_BYTES = SEXTIC_BYTES;
/** Digits of 6x + 2 after the first one, which is 1. */
const LOOP = signedDigits(6n * X + 2n).slice(1);
/** Lines of one pair: one for each digit, another one for digits that are not 0, and the last two. */
const LINES = LOOP.length + LOOP.filter((digit) => digit !== 0).length + 2;
/** Size of the lines of a point of G2. */
export const LINES_BYTES = LINES * LINE_BYTES;
/** A pair for the Miller loop: the affine point of G1, and the address of the lines. */
export const ENTRY_BYTES = PAIR_BYTES + 4;
const TWIST_POINT_BYTES = 3 * PAIR_BYTES;

/**
 * Defines the pairing:
 *
 * - `prepare(lines, q)` stores the lines of an affine point of the twist.
 * - `miller(out, entries, end)` multiplies the Miller loops of the entries; it changes their addresses.
 * - `finalExponentiation(out, f)`: to the power (q^12 - 1)/r times a number that r does not divide.
 * - `isInSubgroup(q)` says whether a point of the twist, in Jacobian coordinates, has the order r or is infinity.
 */
export function definePairing(
  module: ModuleBuilder,
  layout: Layout,
  field: FieldCode,
  pairs: PairCode,
  tower: TowerCode,
  points: PointCode,
): void {
  const formula = (): Formula => new Formula(field, layout);
  const scratch = (bytes: number): Code => i32.const(layout.scratch(bytes));
  const constant = (pair: readonly [bigint, bigint]): Element => ({
    at: i32.const(layout.constant(...pair)),
    weight: 1,
  });
  const triple = (address: Code) => elementsAt(field, address, 3) as [Element, Element, Element];
  const [xFactor, yFactor] = [constant(frobeniusFactor(2)), constant(frobeniusFactor(3))];
  const tripleB = constant([3n * TWIST_B[0], 3n * TWIST_B[1]]);

  /** psi(out, q): ψ of an affine point. */
  const psi = module.define("psi", ["i32", "i32"], (f) => {
    const [out, q] = f.params.map((local) => local.get) as [Code, Code];
    const [y, qy] = [after(out, PAIR_BYTES), after(q, PAIR_BYTES)];
    return [
      [pairs.conjugate(out, q), field.multiply(out, out, xFactor.at)],
      [pairs.conjugate(y, qy), field.multiply(y, y, yFactor.at)],
    ];
  });

  // T in homogeneous coordinates: (X, Y, Z) is (X/Z, Y/Z).
  const current = scratch(TWIST_POINT_BYTES);

  // Costello, Lange, Naehrig (eprint 2009/615), all coordinates times 4: with A = X·Y, B = Y^2 and E = 3b·Z^2, 2T is
  // (2·A·(B - 3E), (B + 3E)^2 - 12·E^2, 8·B·Y·Z). The tangent times 2·Y·Z is 2·Y·Z·yP - 3·X^2·xP·w + (B - E)·w^3.
  const doubleStep = module.define("doubleStep", ["i32"], (f) => {
    const line = (f.params[0] as Local).get;
    const [x, y, z] = triple(current);
    const [l0, l1, l2] = triple(line);
    const to = formula();
    const A = to.multiply(x, y);
    const B = to.square(y);
    const E = to.multiply(to.square(z), tripleB);
    const yz = to.multiply(y, z);
    to.sum([[2, yz]], l0.at);
    to.sum([[-3, to.square(x)]], l1.at);
    to.sum(
      [
        [1, B],
        [-1, E],
      ],
      l2.at,
    );
    to.multiply(
      to.loose([2, A]),
      to.sum([
        [1, B],
        [-3, E],
      ]),
      x.at,
    );
    to.sum(
      [
        [
          1,
          to.square(
            to.sum([
              [1, B],
              [3, E],
            ]),
          ),
        ],
        [-12, to.square(E)],
      ],
      y.at,
    );
    to.sum([[8, to.multiply(B, yz)]], z.at);
    return to.code;
  });

  // With Q affine, t = Y - yQ·Z and d = X - xQ·Z, the slope is t/d, and the line times d is d·yP - t·xP·w + (t·xQ - d·yQ)·w^3.
  const addStep = module.define("addStep", ["i32", "i32"], (f) => {
    const [line, q] = f.params.map((local) => local.get) as [Code, Code];
    const [x, y, z] = triple(current);
    const [l0, l1, l2] = triple(line);
    const [xq, yq] = elementsAt(field, q, 2) as [Element, Element];
    const to = formula();
    const t = to.sum([
      [1, y],
      [-1, to.multiply(yq, z)],
    ]);
    const d = to.sum(
      [
        [1, x],
        [-1, to.multiply(xq, z)],
      ],
      l0.at,
    );
    to.sum([[-1, t]], l1.at);
    to.sum(
      [
        [1, to.multiply(t, xq)],
        [-1, to.multiply(d, yq)],
      ],
      l2.at,
    );
    const dd = to.square(d);
    const ddd = to.multiply(dd, d);
    const g = to.multiply(x, dd);
    const h = to.sum([
      [1, ddd],
      [1, to.multiply(z, to.square(t))],
      [-2, g],
    ]);
    to.multiply(d, h, x.at);
    const product = to.multiply(t, to.loose([1, g], [-1, h]));
    to.sum(
      [
        [1, product],
        [-1, to.multiply(ddd, y)],
      ],
      y.at,
    );
    to.multiply(z, ddd, z.at);
    return to.code;
  });

  module.define("prepare", ["i32", "i32"], (f) => {
    const [lines, q] = f.params.map((local) => local.get) as [Code, Code];
    const one = i32.const(layout.constant(1n, 0n));
    const [negated, image] = [scratch(2 * PAIR_BYTES), scratch(2 * PAIR_BYTES)];
    const negate = (out: Code, from: Code): Code => [
      copy(out, from, PAIR_BYTES),
      field.sum([-1], false)(after(out, PAIR_BYTES), after(from, PAIR_BYTES)),
    ];
    let line = 0;
    const next = (): Code => after(lines, LINE_BYTES * line++);
    return [
      [copy(current, q, 2 * PAIR_BYTES), copy(after(current, 2 * PAIR_BYTES), one, PAIR_BYTES), negate(negated, q)],
      LOOP.map((digit) => [doubleStep(next()), digit === 0 ? [] : addStep(next(), digit === 1 ? q : negated)]),
      [psi(image, q), addStep(next(), image)],
      [psi(image, image), negate(image, image), addStep(next(), image)],
    ];
  });

  // Multiplies f by the next line of each entry.
  const multiplyByLines = module.define("multiplyByLines", ["i32", "i32", "i32"], (f) => {
    const [value, entries, end] = f.params as [Local, Local, Local];
    const line = i32.load(entries.get, PAIR_BYTES);
    return loop(
      i32.ltU(entries.get, end.get),
      tower.multiplyByLine(value.get, line, entries.get),
      i32.store(entries.get, i32.add(line, i32.const(LINE_BYTES)), PAIR_BYTES),
      increase(entries, ENTRY_BYTES),
    );
  });

  module.define("miller", ["i32", "i32", "i32"], (f) => {
    const [out, entries, end] = f.params.map((local) => local.get) as [Code, Code, Code];
    const one = i32.const(layout.constant(1n, ...new Array<bigint>(11).fill(0n)));
    const lines = multiplyByLines(out, entries, end);
    return [
      tower.copy(out, one),
      LOOP.map((digit) => [tower.square(out, out), lines, digit === 0 ? [] : lines]),
      [lines, lines],
    ];
  });

  // To the power x, in the cyclotomic subgroup, where an inverse costs nothing.
  const powerOfX = module.define("powerOfX", ["i32", "i32"], (f) => {
    const [out, a] = f.params.map((local) => local.get) as [Code, Code];
    const [inverse, power] = [scratch(TARGET_BYTES), scratch(TARGET_BYTES)];
    const [, ...digits] = signedDigits(X);
    return [
      [tower.conjugate(inverse, a), tower.copy(power, a)],
      digits.map((digit) => [
        tower.squareCyclotomic(power, power),
        digit === 0 ? [] : tower.multiply(power, power, digit === 1 ? a : inverse),
      ]),
      tower.copy(out, power),
    ];
  });

  // First (q^6 - 1)(q^2 + 1). Then l0 + l1·q + l2·q^2 + l3·q^3 with, for a = 12x^3 + 6x^2 + 6x and b = a - 2x:
  // l0 = a + 6x^2 + 1, l1 = b, l2 = a, l3 = b - 1. That is 2x(6x^2 + 3x + 1)·(q^4 - q^2 + 1)/r (Fuentes-Castaneda, Knapp,
  // Rodriguez-Henriquez, "Faster hashing to G2", SAC 2011).
  module.define("finalExponentiation", ["i32", "i32"], (f) => {
    const [out, x] = f.params.map((local) => local.get) as [Code, Code];
    const { multiply, squareCyclotomic: square, conjugate, frobenius } = tower;
    const [base, a, b, c, x2, x6] = Array.from({ length: 6 }, () => scratch(TARGET_BYTES)) as Code[] as [
      ...[Code, Code, Code, Code, Code, Code],
    ];
    return [
      [tower.invert(a, x), conjugate(base, x), multiply(base, base, a)],
      [frobenius(a, base), frobenius(a, a), multiply(base, base, a)],
      // 2x, 6x, 6x^2 in c, 12x^3 in a.
      [powerOfX(x2, base), square(x2, x2), square(x6, x2), multiply(x6, x6, x2)],
      [powerOfX(c, x6), square(a, c), powerOfX(a, a)],
      [multiply(a, a, c), multiply(a, a, x6), conjugate(b, x2), multiply(b, b, a)],
      // Horner's method, from q^3 down.
      [conjugate(x2, base), multiply(x2, x2, b)],
      [frobenius(x2, x2), multiply(x2, x2, a)],
      [frobenius(x2, x2), multiply(x2, x2, b)],
      [frobenius(x2, x2), multiply(x2, x2, a), multiply(x2, x2, c), multiply(out, x2, base)],
    ];
  });

  // Every point Q of the twist satisfies ψ^2(Q) - [t]ψ(Q) + [q]Q = 0 with t = 6x^2 + 1 (Galbraith, Scott, eprint 2008/117). This
  // checks f(ψ)(Q) = 0 for f = (x + 1) + x·ψ + x·ψ^2 - 2x·ψ^3.
  //
  // - In the group of order r, ψ multiplies by q, and r divides f(q). So the check accepts every point of the group.
  // - f = u·ψ + v modulo ψ^2 - t·ψ + q, with integers u and v, so N = v^2 + t·u·v + q·u^2, the product of u·ψ + v and
  //   v + t·u - u·ψ, maps Q to infinity. So does the twist's order r(q - 1 + t). Their greatest common divisor is r, so [r]Q = 0.
  //
  // The tests compute both with bigints. The check is that of Dai, Lin, Zhao and Zhou, "Fast subgroup
  // membership testings for G1, G2 and GT on pairing-friendly curves" (eprint 2022/348).
  module.define(
    "isInSubgroup",
    ["i32"],
    (f) => {
      const q = (f.params[0] as Local).get;
      const [negated, multiple, sum, image] = Array.from({ length: 4 }, () => scratch(TWIST_POINT_BYTES)) as Code[] as [
        ...[Code, Code, Code, Code],
      ];
      const z = (point: Code): Code => after(point, 2 * PAIR_BYTES);
      const apply = (point: Code): Code => [psi(point, point), pairs.conjugate(z(point), z(point))];
      const [, ...digits] = signedDigits(X);
      return [
        [points.negate(negated, q), points.copy(multiple, q)],
        digits.map((digit) => [
          points.double(multiple, multiple),
          digit === 0 ? [] : points.add(multiple, multiple, digit === 1 ? q : negated),
        ]),
        [points.add(sum, multiple, q), points.copy(image, multiple)],
        [apply(image), points.add(sum, sum, image)],
        [apply(image), points.add(sum, sum, image)],
        [apply(image), points.double(image, image), points.negate(image, image), points.add(sum, sum, image)],
        field.isZero(z(sum)),
      ];
    },
    ["i32"],
  );
}
