import { rootsOfCubic } from "./cubic.ts";
import { add, inverse, type MontgomeryPoint, mod, negate } from "./field.ts";

type Triple = [bigint, bigint, bigint];

/**
 * The eight points +-P0 +-P1 +-P2 in two products. With t_i = s_i v, s_i = +-1, and (X, Y) = (v^2 x, v^3 y):
 * X = (t0 + beta t1)(first . t), Y = (second . t)(X + offset v^2).
 */
export interface Window {
  beta: bigint;
  first: Triple;
  second: Triple;
  offset: bigint;
}

const ORDER = [0, 1, 2] as const;

const determinant = ([[a, b, c], [d, e, f], [g, h, i]]: [Triple, Triple, Triple]): bigint =>
  mod(a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g));

const withColumn = (matrix: [Triple, Triple, Triple], column: number, values: Triple): [Triple, Triple, Triple] =>
  matrix.map((row, r) => row.map((x, c) => (c === column ? values[r] : x))) as [Triple, Triple, Triple];

/** The four sums over the signs of s1 and s2 (s0 = +1) that give the coefficients of 1, s1, s2 and s1 s2. */
function coefficients([pp, pm, mp, mm]: bigint[]): [bigint, bigint, bigint, bigint] {
  const [a, b, c, d] = [pp, pm, mp, mm] as [bigint, bigint, bigint, bigint];
  const quarter = inverse(4n);
  return [
    (a + b + c + d) * quarter,
    (a + b - c - d) * quarter,
    (a - b + c - d) * quarter,
    (a - b - c + d) * quarter,
  ].map(mod) as [bigint, bigint, bigint, bigint];
}

/**
 * The window of three points; undefined if the field has no such representation, which is the case for one triple in
 * three.
 */
export function windowOf(p0: MontgomeryPoint, p1: MontgomeryPoint, p2: MontgomeryPoint): Window | undefined {
  const points = [p1, negate(p1)].flatMap((q1) => [p2, negate(p2)].map((q2) => add(add(p0, q1), q2)));
  // x = x0 + x01 s0 s1 + x02 s0 s2 + x12 s1 s2 is even in the signs, y = y0 s0 + y1 s1 + y2 s2 + y012 s0 s1 s2 is odd.
  const [x0, x01, x02, x12] = coefficients(points.map(({ u }) => u));
  const [y0, y1, y2, y012] = coefficients(points.map(({ v }) => v));
  if ([x01, x02, x12].includes(0n)) return undefined;

  // (t0 + beta t1)(f0 t0 + f1 t1 + f2 t2), compared with x coefficient by coefficient: f2 = x02, beta f2 = x12,
  // f0 + beta f1 = x0, f1 + beta f0 = x01.
  const beta = mod(x12 * inverse(x02));
  const scale = mod(1n - beta * beta);
  if (scale === 0n) return undefined;
  const first: Triple = [mod((x0 - beta * x01) * inverse(scale)), mod((x01 - beta * x0) * inverse(scale)), x02];

  // (g . t)(X + c v^2), compared with y: M(c) g = (y0, y1, y2) and (x12, x02, x01) . g = y012. Eliminating g leaves a
  // cubic in c.
  const matrix = (c: bigint): [Triple, Triple, Triple] => [
    [x0 + c, x01, x02],
    [x01, x0 + c, x12],
    [x02, x12, x0 + c],
  ];
  const cramer = (c: bigint): Triple =>
    ORDER.map((column) => determinant(withColumn(matrix(c), column, [y0, y1, y2]))) as Triple;
  const condition = (c: bigint): bigint => {
    const [a, b, d] = cramer(c);
    return mod(x12 * a + x02 * b + x01 * d - y012 * determinant(matrix(c)));
  };
  const values = [0n, 1n, 2n, 3n].map(condition) as [bigint, bigint, bigint, bigint];
  const offset = rootsOfCubic(values).find((c) => determinant(matrix(c)) !== 0n);
  if (offset === undefined) return undefined;
  const scaleSecond = inverse(determinant(matrix(offset)));
  return { beta, first, second: cramer(offset).map((x) => mod(x * scaleSecond)) as Triple, offset };
}

/** The point of a window, computed as the circuit does for v = 1. The generator checks its result with it. */
export function evaluate({ beta, first, second, offset }: Window, signs: Triple): MontgomeryPoint {
  const dot = (a: Triple): bigint => ORDER.reduce((sum, i) => sum + a[i] * signs[i], 0n);
  const u = mod((signs[0] + beta * signs[1]) * dot(first));
  return { u, v: mod(dot(second) * (u + offset)) };
}
