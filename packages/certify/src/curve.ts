import { inverse, isSquare, mod, P } from "./field.ts";

// Baby Jubjub: in Montgomery form v^2 = u^3 + A u^2 + u, in Edwards form a x^2 + y^2 = 1 + d x^2 y^2.
export const A = 168698n;
export const EDWARDS_A = 168700n;
export const EDWARDS_D = 168696n;
/** The order of the group's largest subgroup of prime order. The group has 8 ORDER points. */
export const ORDER = 2736030358979909402780800718157159386076813972158567259200215660948447373041n;

export interface Affine {
  readonly x: bigint;
  readonly y: bigint;
}

/** Projective Edwards coordinates. */
type Projective = readonly [x: bigint, y: bigint, z: bigint];

const IDENTITY: Projective = [0n, 1n, 1n];
/** circomlib's Base8. `assertCurve` shows that its order is ORDER. */
export const BASE8: Affine = {
  x: 5299619240641551281634865583518297030282874472190772894086521144482721001553n,
  y: 16950150798460657717958625567821834550301663161624707787222815936182638968203n,
};

export const onMontgomery = (u: bigint, v: bigint): boolean => mod(v * v - u * u * u - A * u * u - u) === 0n;
export const onEdwards = ({ x, y }: Affine): boolean =>
  mod(EDWARDS_A * x * x + y * y - 1n - EDWARDS_D * x * x * y * y) === 0n;

const lift = ({ x, y }: Affine): Projective => [x, y, 1n];

/** The complete addition law. */
function add([x1, y1, z1]: Projective, [x2, y2, z2]: Projective): Projective {
  const z = mod(z1 * z2);
  const [square, x, y] = [mod(z * z), mod(x1 * x2), mod(y1 * y2)];
  const product = mod(EDWARDS_D * x * y);
  const [minus, plus] = [square - product, square + product];
  return [
    mod(z * minus * mod((x1 + y1) * (x2 + y2) - x - y)),
    mod(z * plus * mod(y - EDWARDS_A * x)),
    mod(minus * plus),
  ];
}

function multiply(point: Affine, k: bigint): Projective {
  let [sum, square] = [IDENTITY, lift(point)];
  for (let rest = k; rest > 0n; rest >>= 1n, square = add(square, square)) if (rest & 1n) sum = add(sum, square);
  return sum;
}

const affine = ([x, y, z]: Projective): Affine => {
  const inverted = inverse(z);
  return { x: mod(x * inverted), y: mod(y * inverted) };
};
const negate = ([x, y, z]: Projective): Projective => [mod(-x), y, z];
const same = (a: Projective, b: Projective): boolean =>
  mod(a[0] * b[2] - b[0] * a[2]) === 0n && mod(a[1] * b[2] - b[1] * a[2]) === 0n;

/** Base8/2, the unit in which the sums of an amount are counted. */
export const HALF = affine(multiply(BASE8, (ORDER + 1n) / 2n));

/** 2^j Base8/2 by x and y, for j from 0 to 252. */
const exponents = new Map<string, number>();
const powers: Affine[] = [];
{
  let power = lift(HALF);
  for (let j = 0; j <= 252; j++, power = add(power, power)) {
    const point = affine(power);
    powers.push(point);
    exponents.set(`${point.x},${point.y}`, j);
  }
}

/** A number k and an exponent j with point = k 2^j Base8/2, k = 0, 1 or -1; undefined if there is none. */
function powerOf(point: Projective): bigint | undefined {
  if (same(point, IDENTITY)) return 0n;
  const { x, y } = affine(point);
  const exponent = exponents.get(`${x},${y}`);
  if (exponent !== undefined) return 1n << BigInt(exponent);
  const opposite = exponents.get(`${mod(-x)},${y}`);
  return opposite === undefined ? undefined : -(1n << BigInt(opposite));
}

/** The point with this multiple of Base8/2, for 0 or plus or minus a power of two. */
function atPower(multiple: bigint): Projective {
  if (multiple === 0n) return IDENTITY;
  const exponent = (multiple < 0n ? -multiple : multiple).toString(2).length - 1;
  const point = lift(powers[exponent] as Affine);
  return multiple < 0n ? negate(point) : point;
}

/** The range of numbers k such that every given point is k times a unit. */
export interface Range {
  readonly low: bigint;
  readonly high: bigint;
}

/**
 * Multiples of Base8/2 for points that depend on n signs: points[m], in Montgomery form, belongs to the signs whose i-th
 * is + if bit i of m is set. Each is centre + the sum of plus or minus parts[i], in units of Base8/2. All 2^n points are
 * recomputed. Undefined if a point is not on the curve or not of this form.
 */
export function multiplesOf(
  points: readonly (readonly [u: bigint, v: bigint])[],
): { centre: bigint; parts: bigint[] } | undefined {
  const edwards: Projective[] = [];
  for (const [u, v] of points) {
    if (!onMontgomery(u, v) || v === 0n) return undefined;
    // u = -1 is not on the curve, so the second denominator is not 0 either.
    edwards.push([mod(u * (u + 1n)), mod(v * (u - 1n)), mod(v * (u + 1n))]);
  }
  const all = points.length - 1;
  const parts: bigint[] = [];
  let centre = edwards[all] as Projective;
  for (let bit = 1; bit <= all; bit *= 2) {
    const twice = powerOf(add(edwards[all] as Projective, negate(edwards[all - bit] as Projective)));
    if (twice === undefined || twice === 0n || twice % 2n !== 0n) return undefined;
    parts.push(twice / 2n);
    centre = add(centre, negate(atPower(twice / 2n)));
  }
  const middle = powerOf(centre);
  if (middle === undefined) return undefined;
  for (const [signs, point] of edwards.entries()) {
    const sum = parts.reduce((total, part, i) => add(total, atPower((signs >> i) & 1 ? part : -part)), atPower(middle));
    if (!same(sum, point)) return undefined;
  }
  return { centre: middle, parts };
}

/** Odd numbers whose multiples of a unit are looked up, times powers of two. */
const ODD = [1n, 3n, 5n, 7n, 9n, 11n, 13n, 15n];

/**
 * A point in Montgomery form as a unit, with its multiples by plus or minus an odd number up to 15 times a power of two: k by
 * "u,v". Undefined if its order is not ORDER.
 */
export function multiplesOfUnit([u, v]: readonly [u: bigint, v: bigint]):
  | { base: Affine; multiples: Map<string, bigint> }
  | undefined {
  if (!onMontgomery(u, v) || v === 0n) return undefined;
  const base = affine([mod(u * (u + 1n)), mod(v * (u - 1n)), mod(v * (u + 1n))]);
  if (!same(multiply(base, ORDER), IDENTITY)) return undefined;
  const multiples = new Map<string, bigint>();
  const doublings = ORDER.toString(2).length + 1;
  let row = ODD.map((k): [bigint, Projective] => [k, multiply(base, k)]);
  for (let j = 0; j <= doublings; j++, row = row.map(([k, point]) => [2n * k, add(point, point)]))
    for (const [k, [x, y, z]] of row) {
      // The identity has no coordinates. No other multiple has x = 0, because ORDER is odd.
      if (x === 0n) continue;
      const inverted = inverse((z - y) * x);
      const [first, second] = [mod((z + y) * x * inverted), mod((z + y) * z * inverted)];
      for (const [key, value] of [
        [`${first},${second}`, k],
        [`${first},${mod(-second)}`, -k],
      ] as const)
        if (!multiples.has(key)) multiples.set(key, value);
    }
  return { base, multiples };
}

/** Whether an interval contains a multiple of ORDER. */
export const meetsOrder = (low: bigint, high: bigint): boolean => {
  const rest = ((low % ORDER) + ORDER) % ORDER;
  return rest === 0n || rest + (high - low) >= ORDER;
};

/** The facts about the curve that the lemmas use. Throws an Error that names a fact that is false. */
export function assertCurve(): void {
  const facts: [string, boolean][] = [
    ["A^2 - 4 is not 0, so the curve is smooth", mod(A * A - 4n) !== 0n],
    ["A^2 - 4 is not a square, so u^2 + A u + 1 has no root", !isSquare(A * A - 4n)],
    ["A - 2 is not a square, so no point has u = -1", !isSquare(A - 2n)],
    ["the Edwards form is that of the Montgomery form", mod(A * 4n - 2n * (EDWARDS_A + EDWARDS_D)) === 0n],
    ["a - d = 4, so the two forms have no other factor", EDWARDS_A - EDWARDS_D === 4n],
    ["a is a square and d is not, so Edwards addition is complete", isSquare(EDWARDS_A) && !isSquare(EDWARDS_D)],
    ["Base8 is on the curve", onEdwards(BASE8)],
    ["Base8 is not the identity", !same(lift(BASE8), IDENTITY)],
    ["ORDER Base8 is the identity", same(multiply(BASE8, ORDER), IDENTITY)],
    ["twice Base8/2 is Base8", same(add(lift(HALF), lift(HALF)), lift(BASE8))],
    // Hasse: the number of points n satisfies |n - (P + 1)| <= 2 sqrt(P). It is a multiple of ORDER, and 8 ORDER is the
    // only one in this interval.
    ["8 ORDER is in Hasse's interval", (8n * ORDER - P - 1n) ** 2n <= 4n * P],
    ["7 ORDER and 9 ORDER are not", [7n, 9n].every((k) => (k * ORDER - P - 1n) ** 2n > 4n * P)],
  ];
  const wrong = facts.find(([, holds]) => !holds);
  if (wrong !== undefined) throw new Error(`false about the curve: ${wrong[0]}`);
}
