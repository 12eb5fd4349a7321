/**
 * Checks whether a point of the twist is in G2, the subgroup of order r. mcl's own check multiplies by r. This faster check is
 * (x + 1)·P + psi(x·P) + psi²(x·P) = psi³(2x·P), where psi is the twisted Frobenius and x the curve's parameter (Dai, Lin,
 * Zhao and Zhou, eprint 2022/348; gnark uses it too). A test shows that no point outside the subgroup satisfies it.
 *
 * x·P is computed by doubling and adding. mcl's own multiplication in G2 uses psi, which is correct only inside the subgroup,
 * so with it the check could accept points outside.
 */
import { type Curve, type Pointer, SIZE } from "./curve.ts";

/** The curve's parameter x (Barreto, Naehrig); q and r are polynomials of it. */
export const PARAMETER = 4965661367192848881n;
const Q = 36n * PARAMETER ** 4n + 36n * PARAMETER ** 3n + 24n * PARAMETER ** 2n + 6n * PARAMETER + 1n;
/** The twist is y² = x³ + 3 / XI. */
const XI = [9n, 1n] as const;

export class Subgroup {
  readonly #curve: Curve;
  /** psi(x, y) = (conjugate(x)·psiX, conjugate(y)·psiY). */
  readonly #psiX: Pointer;
  readonly #psiY: Pointer;
  readonly #points: readonly Pointer[];
  readonly #conjugate: Pointer;
  /** Non-adjacent form of x without its first digit. */
  readonly #digits: readonly number[];

  constructor(curve: Curve) {
    this.#curve = curve;
    this.#psiX = power(curve, XI, (Q - 1n) / 3n);
    this.#psiY = power(curve, XI, (Q - 1n) / 2n);
    this.#points = Array.from({ length: 6 }, () => curve.alloc(SIZE.g2));
    this.#conjugate = curve.alloc(SIZE.fp2);
    this.#digits = nonAdjacent(PARAMETER).slice(1);
  }

  /** @param point on the twist, affine, not at infinity */
  contains(point: Pointer): boolean {
    const { mcl } = this.#curve;
    const [xP, b, c, sum, spare, d] = this.#points as [Pointer, Pointer, Pointer, Pointer, Pointer, Pointer];
    this.#timesParameter(xP, point, spare, sum);
    this.#psi(b, xP);
    this.#psi(c, b);
    this.#psi(d, c);
    mcl._mclBnG2_add(sum, xP, point);
    mcl._mclBnG2_add(spare, sum, b);
    mcl._mclBnG2_add(sum, spare, c);
    mcl._mclBnG2_dbl(spare, d);
    return mcl._mclBnG2_isEqual(spare, sum) === 1;
  }

  #timesParameter(out: Pointer, point: Pointer, spare: Pointer, negated: Pointer): void {
    const { mcl } = this.#curve;
    mcl._mclBnG2_neg(negated, point);
    this.#curve.copy(out, point, SIZE.g2);
    for (const digit of this.#digits) {
      mcl._mclBnG2_dbl(spare, out);
      if (digit === 0) this.#curve.copy(out, spare, SIZE.g2);
      else mcl._mclBnG2_add(out, spare, digit > 0 ? point : negated);
    }
  }

  #psi(out: Pointer, point: Pointer): void {
    const { mcl } = this.#curve;
    this.#conjugated(this.#conjugate, point);
    mcl._mclBnFp2_mul(out, this.#conjugate, this.#psiX);
    this.#conjugated(this.#conjugate, point + SIZE.fp2);
    mcl._mclBnFp2_mul(out + SIZE.fp2, this.#conjugate, this.#psiY);
    this.#conjugated(out + 2 * SIZE.fp2, point + 2 * SIZE.fp2);
  }

  #conjugated(out: Pointer, value: Pointer): void {
    this.#curve.copy(out, value, SIZE.fp);
    this.#curve.mcl._mclBnFp_neg(out + SIZE.fp, value + SIZE.fp);
  }
}

function power(curve: Curve, base: readonly [bigint, bigint], exponent: bigint): Pointer {
  const [factor, product, spare] = [curve.alloc(SIZE.fp2), curve.alloc(SIZE.fp2), curve.alloc(SIZE.fp2)];
  curve.writeFp2(factor, base);
  curve.writeFp2(product, [1n, 0n]);
  for (const bit of exponent.toString(2)) {
    curve.mcl._mclBnFp2_mul(spare, product, product);
    if (bit === "1") curve.mcl._mclBnFp2_mul(product, spare, factor);
    else curve.copy(product, spare, SIZE.fp2);
  }
  return product;
}

/** The non-adjacent form: digits -1, 0 and 1, highest first. Only a third of them are not 0, instead of half. */
function nonAdjacent(value: bigint): number[] {
  const digits: number[] = [];
  for (let rest = value; rest > 0n; rest >>= 1n) {
    const digit = rest % 2n === 0n ? 0n : 2n - (rest % 4n);
    digits.unshift(Number(digit));
    rest -= digit;
  }
  return digits;
}
