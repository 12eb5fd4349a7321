/** A curve of Baby Jubjub's form over a small field, where every point can be tried. The oracle of the lemmas' fuzzer. */
export interface SmallCurve {
  readonly p: number;
  readonly A: number;
  /** The group has 8 order points. */
  readonly order: number;
  /** A point of this order, in Edwards form. */
  readonly base: Pair;
}
export type Pair = readonly [x: number, y: number];

export const modulo = (value: number, p: number): number => ((value % p) + p) % p;
const power = (base: number, exponent: number, p: number): number => {
  let result = 1;
  for (let i = 0; i < exponent; i++) result = (result * base) % p;
  return result;
};
export const invert = (value: number, p: number): number => power(modulo(value, p), p - 2, p);
const isSquare = (value: number, p: number): boolean => power(modulo(value, p), (p - 1) / 2, p) === 1;

export function addPoints([x1, y1]: Pair, [x2, y2]: Pair, { p, A }: Pick<SmallCurve, "p" | "A">): Pair {
  const tau = (((((A - 2) * x1) % p) * x2) % p) * ((y1 * y2) % p);
  const x = modulo(x1 * y2 + y1 * x2, p) * invert(1 + tau, p);
  const y = modulo(y1 * y2 - (((A + 2) * x1) % p) * x2, p) * invert(1 - tau, p);
  return [x % p, y % p];
}

/** k base, for any integer k. */
export function multipleOf(curve: SmallCurve, k: number): Pair {
  let sum: Pair = [0, 1];
  for (let i = modulo(k, curve.order); i > 0; i--) sum = addPoints(sum, curve.base, curve);
  return sum;
}

/** The coordinates (u, v) of a point other than the identity and (0, -1). */
export function toMontgomery([x, y]: Pair, { p }: SmallCurve): Pair {
  const u = ((1 + y) * invert(1 - y, p)) % p;
  return [u, (u * invert(x, p)) % p];
}

export const onMontgomery = (u: number, v: number, { p, A }: Pick<SmallCurve, "p" | "A">): boolean =>
  (v * v - ((u * u) % p) * (u + A) - u) % p === 0;

export const onEdwards = ([x, y]: Pair, { p, A }: Pick<SmallCurve, "p" | "A">): boolean =>
  modulo((A + 2) * x * x + y * y - 1 - (((A - 2) * x * x) % p) * ((y * y) % p), p) === 0;

/** Throws an Error if the curve is not of the form that the lemmas need. */
export function smallCurve(p: number, A: number): SmallCurve {
  const all = Array.from({ length: p * p }, (_, i): Pair => [Math.floor(i / p), i % p]);
  const count = 1 + all.filter(([u, v]) => onMontgomery(u, v, { p, A })).length;
  const order = count / 8;
  const isPrime = order > 2 && Array.from({ length: order - 2 }, (_, i) => i + 2).every((k) => order % k !== 0);
  const isOfForm =
    Number.isInteger(order) &&
    isPrime &&
    !isSquare(A * A - 4, p) &&
    modulo(A * A - 4, p) !== 0 &&
    !isSquare(A - 2, p) &&
    isSquare(A + 2, p);
  if (!isOfForm) throw new Error(`v^2 = u^3 + ${A} u^2 + u over the field of ${p} is not of Baby Jubjub's form`);
  const double = (point: Pair) => addPoints(point, point, { p, A });
  const base = all
    .filter((point) => onEdwards(point, { p, A }))
    .map((point) => double(double(double(point))))
    .find(([x]) => x !== 0) as Pair;
  return { p, A, order, base };
}
