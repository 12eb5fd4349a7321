/** Scalars as signed digits, for multi-scalar multiplication by buckets. */

/** Scalars are below r < 2^254. */
const SCALAR_BITS = 254;
const SCALAR_WORDS = 8;

export interface Digits {
  /** Size of a digit, bits; digits range from -(2^(bits-1) - 1) to 2^(bits-1). */
  readonly bits: number;
  readonly windows: number;
  readonly count: number;
  /** Digit w of scalar i is at w·count + i, least significant window first. */
  readonly values: Int32Array;
}

/** The digit size with the fewest additions: one per digit, and two per bucket. */
export function digitBits(count: number): number {
  let best = 2;
  const cost = (bits: number): number => windowsOf(bits) * (count + 2 ** bits);
  for (let bits = 3; bits <= 16; bits++) if (cost(bits) < cost(best)) best = bits;
  return best;
}

/** The last window has fewer bits than the others, so that the last carry stays in it. */
function windowsOf(bits: number): number {
  return Math.floor(SCALAR_BITS / bits) + 1;
}

/** @param words scalars of eight 32-bit words each, least significant first */
export function toDigits(words: Uint32Array, bits = digitBits(words.length / SCALAR_WORDS)): Digits {
  const count = words.length / SCALAR_WORDS;
  const windows = windowsOf(bits);
  const values = new Int32Array(windows * count);
  const [mask, half] = [(1 << bits) - 1, 1 << (bits - 1)];
  for (let scalar = 0; scalar < count; scalar++) {
    const base = scalar * SCALAR_WORDS;
    let carry = 0;
    for (let window = 0; window < windows; window++) {
      const start = window * bits;
      const [word, shift] = [base + (start >> 5), start & 31];
      let digit = (words[word] as number) >>> shift;
      if (shift + bits > 32 && start + 32 - shift < 32 * SCALAR_WORDS)
        digit |= (words[word + 1] as number) << (32 - shift);
      digit = (digit & mask) + carry;
      carry = digit > half ? 1 : 0;
      values[window * count + scalar] = carry === 1 ? digit - mask - 1 : digit;
    }
  }
  return { bits, windows, count, values };
}
