/** Checks numbers of files. */
import { SCALAR_BYTES } from "./layout.ts";

/**
 * Whether all numbers are below the order. It compares their top words, and the rest only if these are equal.
 * @param numbers 32 bytes each, little-endian
 */
export function areCanonical(numbers: Uint8Array, order: bigint): boolean {
  const top = Number(order >> 224n);
  for (let end = SCALAR_BYTES; end <= numbers.byteLength; end += SCALAR_BYTES) {
    const high = ((numbers[end - 1] as number) << 8) | (numbers[end - 2] as number);
    const word = high * 65536 + (((numbers[end - 3] as number) << 8) | (numbers[end - 4] as number));
    if (word > top || (word === top && toNumber(numbers.subarray(end - SCALAR_BYTES, end)) >= order)) return false;
  }
  return true;
}

/** @param bytes little-endian */
export function toNumber(bytes: Uint8Array): bigint {
  return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
}
