import { CURVE_A, CURVE_D } from "../curve/babyjub.ts";
import { climb } from "../curve/ladder.ts";
import { describe, fail } from "../errors.ts";
import { FIELD_MODULUS, invertField, invertFields, multiplyField, sqrtField, toField } from "../field.ts";
import { assertField } from "../validate.ts";

const P = FIELD_MODULUS;
const ROOT_A = sqrtField(CURVE_A)!;
const TWO_ROOT_A = toField(2n * ROOT_A);
const HALF_ROOT_A = invertField(TWO_ROOT_A);
/** (A + 2) / 4 of the Montgomery curve below, A = (a + 4) / (2 sqrt a) (with a - d = 4). */
const A24 = multiplyField((ROOT_A + 2n) ** 2n, invertField(8n * ROOT_A));

/** The constants of the ladder below, for kernels that run it: a, d, sqrt a, and (A + 2) / 4. */
export const LADDER_CURVE = { a: CURVE_A, d: CURVE_D, rootA: ROOT_A, a24: A24 } as const;

/**
 * The x of k R, for odd k, from the x of R alone: no square root, no y. Processes many R and k at once, which share two
 * inversions.
 *
 * On a x^2 + y^2 = 1 + d x^2 y^2 the addition law, with y^2 = (1 - a x^2) / (1 - d x^2) substituted, becomes
 *
 *     x(P + Q) x(P - Q) = (X1 - X2) / (1 - a d X1 X2),                 X = x^2
 *     X(2 P) = 4 X (1 - a X) (1 - d X) / (1 - a d X^2)^2
 *
 * X is an x-coordinate of the 2-isogenous curve E / <(0, -1)>: with u = (1 / X - a) / (2 sqrt a) that is the Montgomery
 * curve of A above (4 a = (2 sqrt a)^2 is the product of its other two roots), on which a Montgomery ladder runs. With k
 * = 2 h + 1 the last addition, of (h + 1) R and h R with difference R, is taken before squaring and yields x itself. X
 * is the same for both points that share an x, which is why k must be odd.
 *
 * Every bit takes the same operations, but neither bigints nor WebAssembly guarantee constant time.
 * @param xs the x-coordinates of points of order l
 * @param ks odd, in [1, l)
 * @returns for each x, the x(k R) of each k, or null if there is no such point and a denominator vanishes
 * @throws SottoError INVALID_ARGUMENT, INVALID_FIELD_ELEMENT
 */
export function multiplyXs(xs: readonly bigint[], ks: readonly bigint[]): (bigint | null)[][] {
  if (!Array.isArray(xs)) fail("INVALID_ARGUMENT", `xs must be an array, got ${describe(xs)}`);
  if (!Array.isArray(ks)) fail("INVALID_ARGUMENT", `ks must be an array, got ${describe(ks)}`);
  for (const x of xs) assertField(x, "x");
  const scalars = ks.map((k: bigint) => (assertField(k, "k") >> 1n).toString(2));
  const numerators: bigint[] = [];
  const denominators: bigint[] = [];
  for (const inverse of invertFields(xs)) {
    const base = toField((inverse * inverse - CURVE_A) * HALF_ROOT_A);
    for (const bits of scalars) {
      const [u0, w0, u1, w1] = climb({ u: base, a24: A24 }, bits);
      // X = w / v
      const v0 = (CURVE_A * w0 + TWO_ROOT_A * u0) % P;
      const v1 = (CURVE_A * w1 + TWO_ROOT_A * u1) % P;
      numerators.push(toField((w1 * v0 - w0 * v1) % P) * inverse);
      denominators.push(toField(v0 * v1 - CURVE_A * CURVE_D * w0 * w1));
    }
  }
  const quotients = invertFields(denominators);
  return xs.map((x, i) =>
    scalars.map((_, j) => {
      const at = i * scalars.length + j;
      const quotient = quotients[at]!;
      return quotient === 0n || x === 0n ? null : toField(numerators[at]! * quotient);
    }),
  );
}
