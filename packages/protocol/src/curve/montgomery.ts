import { addField, invertField, invertModulo, multiplyField, subtractField } from "../field.ts";
import { assertField } from "../validate.ts";
import { assertSubgroupPoint, multiplyPoint, type Point, SUBGROUP_ORDER } from "./babyjub.ts";

const EIGHTH = invertModulo(8n, SUBGROUP_ORDER);

/** circomlib's Montgomery form, v^2 = u^3 + 168698 u^2 + u: u = (1 + y) / (1 - y), v = u / x. */
export function toMontgomery(point: Point): [u: bigint, v: bigint] {
  const { x, y } = Object(point) as Point;
  assertField(x, "x");
  const u = multiplyField(addField(1n, assertField(y, "y")), invertField(subtractField(1n, y)));
  return [u, multiplyField(u, invertField(x))];
}

/**
 * The point Q with 8 Q = P, in Montgomery form: the circuits' witness that the key P is in the prime-order subgroup and
 * not the identity.
 * @throws SottoError INVALID_POINT
 */
export function montgomeryEighth(point: Point): [u: bigint, v: bigint] {
  return toMontgomery(multiplyPoint(assertSubgroupPoint(point), EIGHTH));
}
