/** The BN254 scalar field, over which circom's constraints are equations. */
export const P = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;

/** The representative of any integer in [0, P). */
export const mod = (value: bigint): bigint => {
  const rest = value % P;
  return rest < 0n ? rest + P : rest;
};

/** The representative of smallest absolute value. */
export const smallest = (value: bigint, modulus = P): bigint => {
  const rest = ((value % modulus) + modulus) % modulus;
  return 2n * rest > modulus ? rest - modulus : rest;
};

export function power(base: bigint, exponent: bigint, modulus = P): bigint {
  let result = 1n;
  for (let square = base % modulus, rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

/** Throws RangeError at 0, which has no inverse. Extended Euclid. */
export function inverse(value: bigint): bigint {
  let [a, b, x, y] = [mod(value), P, 1n, 0n];
  if (a === 0n) throw new RangeError("0 has no inverse");
  // Most coefficients are 1 or -1, each its own inverse.
  if (a === 1n || a === P - 1n) return a;
  while (a !== 1n) {
    const quotient = b / a;
    [a, b, x, y] = [b - quotient * a, a, y - quotient * x, x];
  }
  return mod(x);
}

/** Whether a number is a nonzero square. */
export const isSquare = (value: bigint): boolean => power(mod(value), (P - 1n) / 2n) === 1n;
