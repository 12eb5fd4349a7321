/** Scalars as signed digits, for multi-scalar multiplication by buckets. */
import type { Kernel } from "./kernel.ts";
import { ENTRY_BYTES, SCALAR_BYTES } from "./layout.ts";

/** Scalars are below r < 2^254. */
const SCALAR_BITS = 254;

export interface Digits {
  /** Size of a digit, bits; digits range from -(2^(bits-1) - 1) to 2^(bits-1). */
  readonly bits: number;
  readonly windows: number;
  readonly count: number;
  /** Address of the digits, 32 bits each: digit w of scalar i is number w·count + i, least significant window first. */
  readonly values: number;
}

/** The digit size with the fewest additions: one per digit, and two per bucket. */
export function digitBits(count: number): number {
  let best = 2;
  const cost = (bits: number): number => windowsOf(bits) * (count + 2 ** bits);
  for (let bits = 3; bits <= 16; bits++) if (cost(bits) < cost(best)) best = bits;
  return best;
}

/** The last window has fewer bits than the others, so that the last carry stays in it. */
export function windowsOf(bits: number): number {
  return Math.floor(SCALAR_BITS / bits) + 1;
}

/** @param scalars 32 bytes each, little-endian, below r */
export function toDigits(kernel: Kernel, scalars: Uint8Array, bits = digitBits(scalars.length / SCALAR_BYTES)): Digits {
  const count = scalars.length / SCALAR_BYTES;
  const windows = windowsOf(bits);
  const values = kernel.allocate(windows * count * ENTRY_BYTES);
  const mark = kernel.mark();
  const raw = kernel.allocate(scalars.length);
  kernel.bytes(raw, scalars.length).set(scalars);
  kernel.call("digits", raw, count, bits, windows, values);
  // Witnesses are secret.
  kernel.bytes(raw, scalars.length).fill(0);
  kernel.release(mark);
  return { bits, windows, count, values };
}
