/** The BN254 scalar field: the field of every signal. */
export const P = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;

/** The representative of any integer in [0, P). */
export const mod = (value: bigint): bigint => {
  const rest = value % P;
  return rest < 0n ? rest + P : rest;
};

/** The representative of smallest absolute value. */
export const centred = (value: bigint, modulus = P): bigint => {
  const rest = ((value % modulus) + modulus) % modulus;
  return rest > modulus / 2n ? rest - modulus : rest;
};

/** base^exponent modulo P. */
export function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let square = mod(base), rest = exponent; rest > 0n; rest >>= 1n, square = (square * square) % P)
    if (rest & 1n) result = (result * square) % P;
  return result;
}

/** Throws RangeError at 0, which has no inverse. Extended Euclid: in each step, a = k value modulo P and b = m value. */
export function inverse(value: bigint): bigint {
  let [a, k, b, m] = [mod(value), 1n, P, 0n];
  if (a === 0n) throw new RangeError("0 has no inverse");
  // Most coefficients are 1 or -1, each its own inverse.
  if (a === 1n || a === P - 1n) return a;
  for (; a !== 1n; [a, k, b, m] = [b % a, m - (b / a) * k, a, k]);
  return mod(k);
}

/** a / b modulo P. Throws if b is 0. */
export const divide = (a: bigint, b: bigint): bigint => mod(a * inverse(b));

/** A square root (either one), or undefined for a non-residue. Tonelli-Shanks; P - 1 = 2^28 * odd. */
export function squareRoot(value: bigint): bigint | undefined {
  const target = mod(value);
  if (target === 0n) return 0n;
  if (power(target, (P - 1n) / 2n) !== 1n) return undefined;
  const odd = (P - 1n) >> 28n;
  let root = power(target, (odd + 1n) / 2n);
  let error = power(target, odd);
  // 5 generates the multiplicative group, so 5^odd has order 2^28.
  let generator = power(5n, odd);
  for (let order = 28; error !== 1n; ) {
    let depth = 0;
    for (let square = error; square !== 1n; square = mod(square * square)) depth++;
    let factor = generator;
    for (let i = 0; i < order - depth - 1; i++) factor = mod(factor * factor);
    root = mod(root * factor);
    generator = mod(factor * factor);
    error = mod(error * generator);
    order = depth;
  }
  return root;
}
