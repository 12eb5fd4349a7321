import { describe, fail } from "./errors.ts";

const DIGITS = "0123456789abcdef";

/** Lower-case hex with 0x. */
export function bytesToHex(bytes: Uint8Array): string {
  if (!(bytes instanceof Uint8Array)) fail("INVALID_ARGUMENT", `a Uint8Array was expected, got ${describe(bytes)}`);
  let hex = "0x";
  for (const byte of bytes) hex += DIGITS[byte >> 4]! + DIGITS[byte & 15]!;
  return hex;
}

/**
 * Strict inverse of `bytesToHex`: exactly `size` bytes, lower-case digits, with 0x.
 *
 * @throws SottoError INVALID_HEX
 */
export function hexToBytes(hex: unknown, size: number, name = "value"): Uint8Array {
  if (typeof hex !== "string" || hex.length !== 2 + 2 * size || !/^0x[0-9a-f]*$/.test(hex)) {
    fail("INVALID_HEX", `${name} must be ${size} bytes as lower-case hex with 0x, got ${describe(hex)}`, {
      name,
      size,
    });
  }
  const bytes = new Uint8Array(size);
  for (let i = 0; i < size; i++) bytes[i] = Number.parseInt(hex.slice(2 + 2 * i, 4 + 2 * i), 16);
  return bytes;
}

/** Big-endian integer of the bytes. */
export function bytesToBigInt(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(bytesToHex(bytes));
}

/** Encodes a value in `size` bytes, big-endian. Internal: callers have already checked that it fits. */
export function bigIntToBytes(value: bigint, size: number): Uint8Array {
  const hex = value.toString(16).padStart(2 * size, "0");
  if (value < 0n || hex.length > 2 * size) fail("INVALID_INTEGER", `a value does not fit into ${size} bytes`, { size });
  const bytes = new Uint8Array(size);
  for (let i = 0; i < size; i++) bytes[i] = Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}
