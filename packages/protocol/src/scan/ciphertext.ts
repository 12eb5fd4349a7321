import { CURVE_D, isInSubgroup, isOnCurve, multiplyBaseByPublic } from "../curve/babyjub.ts";
import { invertField, toField } from "../field.ts";

/**
 * Whether C = S + amount Base8, for the point S of the prime-order subgroup with this x: what the payment circuit proves.
 *
 * No square root: with M = amount Base8 the addition law, C.x (1 + d S.x M.x S.y M.y) = S.x M.y + S.y M.x, is linear in
 * S.y. The solution is then checked to be on the curve and in the subgroup (the other point with this x is in neither 8
 * E nor the circuit's reach).
 */
export function opensTo(sharedX: bigint, cipherX: bigint, amount: bigint): boolean {
  if (amount === 0n) return cipherX === sharedX;
  const message = multiplyBaseByPublic(amount);
  const factor = toField((toField(CURVE_D * sharedX * message.y) * cipherX - 1n) * message.x);
  if (factor === 0n) return false;
  const shared = { x: sharedX, y: toField((sharedX * message.y - cipherX) * invertField(factor)) };
  return isOnCurve(shared) && isInSubgroup(shared);
}
