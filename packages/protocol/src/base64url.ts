// base64url on every platform, without padding: each sequence of bytes has exactly one text.
import { fail } from "./errors.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/** The value of each character, by character code. */
const SEXTETS = Uint8Array.from({ length: 128 }, (_, code) => Math.max(0, ALPHABET.indexOf(String.fromCharCode(code))));
const TEXT = /^[A-Za-z0-9_-]*$/;

/** The text of some bytes. */
export function encodeBase64url(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const group = (bytes[i]! << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    const characters = Math.min(3, bytes.length - i) + 1;
    for (let j = 0; j < characters; j++) text += ALPHABET[(group >> (18 - 6 * j)) & 63];
  }
  return text;
}

/**
 * Inverse of `encodeBase64url`.
 * @param size the expected number of bytes
 * @throws SottoError INVALID_ARGUMENT also for a second spelling of the same bytes
 */
export function decodeBase64url(text: unknown, size: number, name: string): Uint8Array {
  const length = Math.ceil((size * 4) / 3);
  if (typeof text !== "string" || text.length !== length || !TEXT.test(text))
    fail("INVALID_ARGUMENT", `${name} must be ${length} characters of base64url`);
  const bytes = new Uint8Array(size);
  const sextet = (i: number) => (i < length ? SEXTETS[text.charCodeAt(i)]! : 0);
  let rest = 0;
  for (let i = 0, j = 0; i < size; i += 3, j += 4) {
    const group = (sextet(j) << 18) | (sextet(j + 1) << 12) | (sextet(j + 2) << 6) | sextet(j + 3);
    // Writes behind the end of the array are ignored.
    bytes[i] = group >> 16;
    bytes[i + 1] = group >> 8;
    bytes[i + 2] = group;
    rest = group & ((1 << (8 * Math.max(0, i + 3 - size))) - 1);
  }
  if (rest !== 0) fail("INVALID_ARGUMENT", `${name} must be base64url without unused bits`);
  return bytes;
}
