// Points of Baby Jubjub outside the prime-order subgroup, with which cheaters and tests try the circuits.
import { multiply, ORDER, type Point } from "@sotto/certify/check/curve";
import { divide, mod, squareRoot } from "@sotto/certify/check/field";

/** A point of the curve with this x, or undefined. a = 168700, d = 168696. */
function atX(x: bigint): Point | undefined {
  const y = squareRoot(divide(1n - 168700n * x * x, 1n - 168696n * x * x));
  return y === undefined ? undefined : { x, y };
}

/** A point of order 8: some point of the curve multiplied by l. */
function orderEight(): Point {
  for (let x = 2n; ; x++) {
    const point = atX(x);
    if (point === undefined) continue;
    const small = multiply(point, ORDER);
    if (multiply(small, 4n).x !== 0n || multiply(small, 4n).y !== 1n) return small;
  }
}

/** Points of small order: 8, 4 and 2. */
export const T8 = orderEight();
export const T4 = multiply(T8, 2n);
export const T2 = multiply(T8, 4n);

/** The other point with the same x. It is not in the subgroup. */
export const otherY = ({ x, y }: Point): Point => ({ x, y: mod(-y) });
