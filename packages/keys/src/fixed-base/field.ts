// The BN254 scalar field, and points of Baby Jubjub over it in Montgomery form, v^2 = u^3 + A u^2 + u.

export const P = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;
const A = 168698n;

export const mod = (x: bigint): bigint => ((x % P) + P) % P;

export function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let square = mod(base), rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
}

export const inverse = (x: bigint): bigint => power(x, P - 2n);

export interface MontgomeryPoint {
  u: bigint;
  v: bigint;
}

/** Base8 of circomlib, in Montgomery form: u = (1 + y) / (1 - y), v = u / x. */
export function base8(): MontgomeryPoint {
  const x = 5299619240641551281634865583518297030282874472190772894086521144482721001553n;
  const y = 16950150798460657717958625567821834550301663161624707787222815936182638968203n;
  const u = mod((1n + y) * inverse(1n - y));
  return { u, v: mod(u * inverse(x)) };
}

export const negate = ({ u, v }: MontgomeryPoint): MontgomeryPoint => ({ u, v: mod(-v) });

/** a + b, for points of the prime-order subgroup with a + b not the identity. */
export function add(a: MontgomeryPoint, b: MontgomeryPoint): MontgomeryPoint {
  const same = a.u === b.u && a.v === b.v;
  const slope = same
    ? mod((3n * a.u * a.u + 2n * A * a.u + 1n) * inverse(2n * a.v))
    : mod((b.v - a.v) * inverse(b.u - a.u));
  const u = mod(slope * slope - A - a.u - b.u);
  return { u, v: mod(slope * (a.u - u) - a.v) };
}

/** Half of a point of the prime-order subgroup of order l: (l + 1)/2 times the point. */
export function half(point: MontgomeryPoint): MontgomeryPoint {
  const factor = (2736030358979909402780800718157159386076813972158567259200215660948447373041n + 1n) / 2n;
  let sum = point;
  for (const bit of factor.toString(2).slice(1)) {
    sum = add(sum, sum);
    if (bit === "1") sum = add(sum, point);
  }
  return sum;
}

/** The same point on the Edwards curve: x = u / v, y = (u - 1) / (u + 1). */
export const edwards = ({ u, v }: MontgomeryPoint): { x: bigint; y: bigint } => ({
  x: mod(u * inverse(v)),
  y: mod((u - 1n) * inverse(u + 1n)),
});
