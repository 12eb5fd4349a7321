import { addField, invertField, invertModulo, multiplyField, subtractField } from "../field.ts";
import { expectField } from "../validate.ts";
import { expectSubgroupPoint, multiplyPoint, type Point, SUBGROUP_ORDER } from "./babyjub.ts";

const EIGHTH = invertModulo(8n, SUBGROUP_ORDER);

/** circomlib's Montgomery form, v^2 = u^3 + 168698 u^2 + u: u = (1 + y) / (1 - y), v = u / x. */
export function toMontgomery(point: Point): [u: bigint, v: bigint] {
  const { x, y } = Object(point) as Point;
  expectField(x, "x");
  const u = multiplyField(addField(1n, expectField(y, "y")), invertField(subtractField(1n, y)));
  return [u, multiplyField(u, invertField(x))];
}

/**
 * Q in Montgomery form with 8 Q = P: the witness by which the circuits prove that a key is in the prime-order subgroup
 * and not the identity.
 *
 * @throws SottoError INVALID_POINT
 */
export function montgomeryEighth(point: Point): [u: bigint, v: bigint] {
  return toMontgomery(multiplyPoint(expectSubgroupPoint(point), EIGHTH));
}
