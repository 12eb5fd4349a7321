import { isBytes } from "./bytes.ts";
import { describe, fail } from "./errors.ts";

/** The two digits of each byte. */
const PAIRS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
/** The value of each lower-case digit, by character code. */
const NIBBLES = Uint8Array.from({ length: 128 }, (_, code) =>
  Math.max(0, "0123456789abcdef".indexOf(String.fromCharCode(code))),
);

/** The bytes of lower-case digits that are checked already, from the position `start`. */
function decodeDigits(hex: string, start: number, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  for (let i = 0, j = start; i < size; i++, j += 2)
    bytes[i] = (NIBBLES[hex.charCodeAt(j)]! << 4) | NIBBLES[hex.charCodeAt(j + 1)]!;
  return bytes;
}

/** Lower-case hex with 0x. */
export function bytesToHex(bytes: Uint8Array): string {
  if (!isBytes(bytes)) fail("INVALID_ARGUMENT", `a Uint8Array was expected, got ${describe(bytes)}`);
  let hex = "0x";
  for (let i = 0; i < bytes.length; i++) hex += PAIRS[bytes[i]!]!;
  return hex;
}

/**
 * Strict inverse of `bytesToHex`: exactly `size` bytes, lower-case digits, with 0x.
 * @throws SottoError INVALID_HEX
 */
export function hexToBytes(hex: unknown, size: number, name = "value"): Uint8Array {
  if (typeof hex !== "string" || hex.length !== 2 + 2 * size || !/^0x[0-9a-f]*$/.test(hex))
    fail("INVALID_HEX", `${name} must be ${size} bytes as lower-case hex with 0x, got ${describe(hex)}`, {
      name,
      size,
    });
  return decodeDigits(hex, 2, size);
}

/** Big-endian integer of the bytes. */
export function bytesToBigInt(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(bytesToHex(bytes));
}

/** Encodes a value in `size` bytes, big-endian. @throws SottoError INVALID_INTEGER if the value does not fit */
export function bigIntToBytes(value: bigint, size: number): Uint8Array {
  const hex = value.toString(16).padStart(2 * size, "0");
  if (value < 0n || hex.length > 2 * size) fail("INVALID_INTEGER", `a value does not fit into ${size} bytes`, { size });
  return decodeDigits(hex, 0, size);
}

/** The bytes of all parts, in their order. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}
