import { fail } from "../errors.ts";
import { FIELD_MODULUS, invertField, multiplyField, sqrtField, subtractField } from "../field.ts";
import { bigIntToBytes, bytesToBigInt, bytesToHex, hexToBytes } from "../hex.ts";
import { assertSubgroupPoint, CURVE_A, CURVE_D, type Point } from "./babyjub.ts";

const HALF = FIELD_MODULUS >> 1n;
const SIGN = 0x80;

/** circomlib's packPoint: y in 32 bytes little-endian, the top bit set if x > (p - 1) / 2. Hex with 0x. */
export function packPoint(point: Point): string {
  const { x, y } = assertSubgroupPoint(point);
  const bytes = bigIntToBytes(y, 32).reverse();
  if (x > HALF) bytes[31]! |= SIGN;
  return bytesToHex(bytes);
}

/**
 * Strict inverse of `packPoint`: y must be canonical, and the point on the curve, in the prime-order subgroup and not
 * the identity. Without these checks, a sender could pay to a key whose owner cannot read the payment.
 * @throws SottoError INVALID_HEX, INVALID_POINT
 */
export function unpackPoint(hex: string, name = "point"): Point {
  const bytes = hexToBytes(hex, 32, name).reverse();
  const negative = (bytes[0]! & SIGN) !== 0;
  bytes[0]! &= ~SIGN;
  const y = bytesToBigInt(bytes);
  if (y >= FIELD_MODULUS) fail("INVALID_POINT", `${name} has a y that is not below p`, { name });
  const square = multiplyField(y, y);
  // a - d y^2 is never 0: a is a square and d is not, so a / d is not a square.
  const x2 = multiplyField(subtractField(1n, square), invertField(subtractField(CURVE_A, CURVE_D * square)));
  const root = sqrtField(x2);
  if (root === null) fail("INVALID_POINT", `${name} has a y that no point of the curve has`, { name });
  if (root === 0n && negative) fail("INVALID_POINT", `${name} has a sign on x = 0`, { name });
  const x = root > HALF === negative ? root : FIELD_MODULUS - root;
  return assertSubgroupPoint({ x, y }, name);
}
