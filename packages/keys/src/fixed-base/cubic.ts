import { inverse, mod, P } from "./field.ts";

/** Coefficients in ascending order of degree, without zeros at the end. */
type Polynomial = bigint[];

function trim(polynomial: Polynomial): Polynomial {
  const reduced = polynomial.map(mod);
  while (reduced.length > 0 && reduced.at(-1) === 0n) reduced.pop();
  return reduced;
}

const at = (polynomial: Polynomial, i: number): bigint => polynomial[i] ?? 0n;

function divide(dividend: Polynomial, divisor: Polynomial): { quotient: Polynomial; rest: Polynomial } {
  const lead = inverse(at(divisor, divisor.length - 1));
  const quotient: Polynomial = [];
  let rest = trim(dividend);
  while (rest.length >= divisor.length) {
    const shift = rest.length - divisor.length;
    const factor = mod(at(rest, rest.length - 1) * lead);
    quotient[shift] = factor;
    rest = trim(rest.map((x, i) => (i >= shift ? x - factor * at(divisor, i - shift) : x)));
  }
  return { quotient: Array.from(quotient, (x) => x ?? 0n), rest };
}

function multiply(a: Polynomial, b: Polynomial): Polynomial {
  const product: Polynomial = Array<bigint>(a.length + b.length).fill(0n);
  a.forEach((x, i) => {
    b.forEach((y, j) => {
      product[i + j] = at(product, i + j) + x * y;
    });
  });
  return trim(product);
}

function powerModulo(base: Polynomial, exponent: bigint, modulus: Polynomial): Polynomial {
  let result: Polynomial = [1n];
  let square = base;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = divide(multiply(result, square), modulus).rest;
    square = divide(multiply(square, square), modulus).rest;
  }
  return result;
}

function greatestCommonDivisor(a: Polynomial, b: Polynomial): Polynomial {
  let [x, y] = [trim(a), trim(b)];
  while (y.length > 0) [x, y] = [y, divide(x, y).rest];
  const lead = inverse(at(x, x.length - 1));
  return x.map((coefficient) => mod(coefficient * lead));
}

/**
 * The roots of a product of distinct linear factors (Cantor-Zassenhaus, with the shifts 1, 2, 3 .. instead of random ones).
 */
function split(product: Polynomial, shift = 1n): bigint[] {
  if (product.length <= 1) return [];
  if (product.length === 2) return [mod(-at(product, 0))];
  const half = powerModulo([shift, 1n], (P - 1n) / 2n, product);
  const factor = greatestCommonDivisor(product, [at(half, 0) - 1n, ...half.slice(1)]);
  if (factor.length <= 1 || factor.length === product.length) return split(product, shift + 1n);
  return [...split(factor, shift + 1n), ...split(divide(product, factor).quotient, shift + 1n)];
}

/** All roots in the field, in ascending order, of the cubic through (0, values[0]) .. (3, values[3]). */
export function rootsOfCubic(values: [bigint, bigint, bigint, bigint]): bigint[] {
  const [f0, f1, f2, f3] = values;
  const second = f2 - 2n * f1 + f0;
  const c3 = mod((f3 - 3n * f2 + 3n * f1 - f0) * inverse(6n));
  const c2 = mod(second * inverse(2n) - 3n * c3);
  const cubic = trim([f0, f1 - f0 - c2 - c3, c2, c3]);
  if (cubic.length < 2) return [];
  const fermat = powerModulo([0n, 1n], P, cubic);
  const roots = greatestCommonDivisor(cubic, [at(fermat, 0), at(fermat, 1) - 1n, at(fermat, 2)]);
  return split(roots).sort((a, b) => (a < b ? -1 : 1));
}
