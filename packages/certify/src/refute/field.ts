/** The integers modulo a prime. The prime is a parameter, so that tests can try all values of a small field. */
export class Field {
  readonly p: bigint;
  /** p - 1 = 2^order * odd, and an element of order 2^order. */
  readonly #order: number;
  readonly #odd: bigint;
  readonly #generator: bigint;

  constructor(p: bigint) {
    this.p = p;
    let [odd, order] = [p - 1n, 0];
    for (; odd % 2n === 0n; odd /= 2n) order++;
    let nonSquare = 2n;
    while (p > 2n && this.power(nonSquare, (p - 1n) / 2n) === 1n) nonSquare++;
    this.#order = order;
    this.#odd = odd;
    this.#generator = this.power(nonSquare, odd);
  }

  /** The representative of any integer in [0, p). */
  mod(value: bigint): bigint {
    const rest = value % this.p;
    return rest < 0n ? rest + this.p : rest;
  }

  /** @param value not 0 */
  inverse(value: bigint): bigint {
    let [a, b, x, y] = [this.mod(value), this.p, 1n, 0n];
    if (a === 1n || a === this.p - 1n) return a;
    while (a > 1n) {
      const quotient = b / a;
      [a, b, x, y] = [b - quotient * a, a, y - quotient * x, x];
    }
    return this.mod(x);
  }

  power(base: bigint, exponent: bigint): bigint {
    let result = 1n;
    for (let square = this.mod(base), rest = exponent; rest > 0n; rest >>= 1n) {
      if (rest & 1n) result = (result * square) % this.p;
      square = (square * square) % this.p;
    }
    return result;
  }

  /** The square roots of a number: none, one (of 0) or two. Tonelli-Shanks. @param value in [0, p) */
  roots(value: bigint): bigint[] {
    const { p } = this;
    if (value === 0n || p === 2n) return [value];
    // The equation of a bit has this discriminant.
    if (value === 1n) return [1n, p - 1n];
    if (this.power(value, (p - 1n) / 2n) !== 1n) return [];
    let [order, generator] = [this.#order, this.#generator];
    let root = this.power(value, (this.#odd + 1n) / 2n);
    let error = this.power(value, this.#odd);
    while (error !== 1n) {
      let depth = 0;
      for (let square = error; square !== 1n; square = (square * square) % p) depth++;
      const factor = this.power(generator, 1n << BigInt(order - depth - 1));
      root = (root * factor) % p;
      generator = (factor * factor) % p;
      error = (error * generator) % p;
      order = depth;
    }
    return [root, p - root];
  }

  /** All x with a x^2 + b x + c = 0; undefined if every x is a solution. */
  solve(a: bigint, b: bigint, c: bigint): bigint[] | undefined {
    if (a === 0n) {
      if (b === 0n) return c === 0n ? undefined : [];
      return [this.mod(-c * this.inverse(b))];
    }
    if (c === 0n) return b === 0n ? [0n] : [0n, this.mod(-b * this.inverse(a))];
    if (this.p === 2n) return [0n, 1n].filter((x) => (a * x + b * x + c) % 2n === 0n);
    const half = this.inverse(2n * a);
    return this.roots(this.mod(b * b - 4n * a * c)).map((root) => this.mod((root - b) * half));
  }
}
