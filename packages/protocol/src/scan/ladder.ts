import { CURVE_A, CURVE_D } from "../curve/babyjub.ts";
import { FIELD_MODULUS, invertField } from "../field.ts";

const P = FIELD_MODULUS;
const AD = (CURVE_A * CURVE_D) % P;
const SUM = CURVE_A + CURVE_D;

/**
 * The x of k R for an odd k, from the x of R alone: no square root, no y.
 *
 * On a x^2 + y^2 = 1 + d x^2 y^2 the addition law, with y^2 = (1 - a x^2) / (1 - d x^2) put in, gives
 *
 *     x(P + Q) x(P - Q) = (X1 - X2) / (1 - a d X1 X2),                 X = x^2
 *     X(2 P) = 4 X (1 - a X) (1 - d X) / (1 - a d X^2)^2
 *
 * so a Montgomery ladder runs on u = 1 / X = U / Z (u is an x-coordinate of the 2-isogenous curve E / <(0, -1)>). With k
 * = 2 h + 1 the last addition, of h R and (h + 1) R with difference R, is taken before squaring and yields x itself. X
 * does not see the difference between the two points with one x, which is why k must be odd. Each bit costs the same
 * operations; bigint arithmetic is nevertheless not constant-time.
 *
 * Checked against point arithmetic for random and extreme k, and derived symbolically (test/scan).
 *
 * @param x the x of a point of order l
 * @param k odd, in [1, l)
 * @returns x(k R), or null where x is not the x of such a point and a denominator vanishes
 */
export function multiplyX(x: bigint, k: bigint): bigint | null {
  const base = (x * x) % P;
  // (U0 : Z0) = h R, (U1 : Z1) = (h + 1) R, with h growing bit by bit from 0. The identity has X = 0, u = infinity.
  let [u0, z0, u1, z1] = [1n, 0n, 1n, base];
  const bits = (k >> 1n).toString(2);
  for (let i = 0; i < bits.length; i++) {
    const one = bits[i] === "1";
    // Sums of products are reduced once: reduction is the expensive step for bigints.
    const plus = (u0 * u1 - AD * z0 * z1) % P;
    const cross = (u0 * z1 - u1 * z0) % P;
    const sumU = (((plus * plus) % P) * base) % P;
    const sumZ = (cross * cross) % P;
    const [u, z] = one ? [u1, z1] : [u0, z0];
    const u2 = (u * u) % P;
    const uz = (u * z) % P;
    const adz2 = (AD * z * z) % P;
    const minus = u2 - adz2;
    const doubleU = (minus * minus) % P;
    const doubleZ = (4n * uz * (u2 - SUM * uz + adz2)) % P;
    if (one) [u0, z0, u1, z1] = [sumU, sumZ, doubleU, doubleZ];
    else [u0, z0, u1, z1] = [doubleU, doubleZ, sumU, sumZ];
  }
  // x = (X1 - X0) / ((1 - a d X0 X1) x(R)) with X = Z / U.
  const numerator = z1 * u0 - z0 * u1;
  const denominator = (((u0 * u1 - AD * z0 * z1) % P) * x) % P;
  if (denominator === 0n) return null;
  const result = (numerator * invertField(denominator < 0n ? denominator + P : denominator)) % P;
  return result < 0n ? result + P : result;
}
