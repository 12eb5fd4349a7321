// The bits of a set: one for each leaf of the pool's tree, in chunks.
import { TREE_ARITY } from "@sotto/protocol";
import { fail } from "@sotto/protocol/extend";

/** Levels of the mask tree below a chunk's root. */
export const CHUNK_LEVELS = 5;

/** Leaves of a chunk. */
export const CHUNK_LEAVES = TREE_ARITY ** CHUNK_LEVELS;

/** Bytes of a chunk's bitmap: bit i % 8 of byte i / 8 is that of the chunk's leaf i. */
export const CHUNK_BYTES = CHUNK_LEAVES / 8;

/** Number of chunks for this many leaves. */
export const chunksOf = (leaves: number): number => Math.ceil(leaves / CHUNK_LEAVES);

/** Whether a chunk's bitmap has the bit of its leaf `index`, 0 to CHUNK_LEAVES - 1. */
export const hasBit = (bitmap: Uint8Array, index: number): boolean => ((bitmap[index >> 3]! >> (index & 7)) & 1) === 1;

/** Sets or clears the bit of a chunk's leaf. */
export function setBit(bitmap: Uint8Array, index: number, value: boolean): void {
  const bit = 1 << (index & 7);
  bitmap[index >> 3] = value ? bitmap[index >> 3]! | bit : bitmap[index >> 3]! & ~bit;
}

/**
 * Checks a bitmap of another party: its size, and that it has no bit for a leaf that does not exist.
 * @param chunk position of the chunk
 * @param leaves number of leaves of the whole tree
 * @throws SottoError INVALID_ARGUMENT
 */
export function assertBitmap(bitmap: Uint8Array, chunk: number, leaves: number): void {
  if (bitmap.length !== CHUNK_BYTES)
    fail("INVALID_ARGUMENT", `a bitmap has ${CHUNK_BYTES} bytes, got ${bitmap.length}`);
  const end = Math.min(CHUNK_LEAVES, leaves - chunk * CHUNK_LEAVES);
  for (let index = Math.max(0, end); index < CHUNK_LEAVES; index += 1)
    if (hasBit(bitmap, index))
      fail("INVALID_ARGUMENT", `a bitmap has a bit for leaf ${chunk * CHUNK_LEAVES + index}, which does not exist`);
}

/** The number of bits that are set in each byte. */
const BITS_OF = Uint8Array.from({ length: 256 }, (_, byte) => {
  let bits = 0;
  for (let rest = byte; rest !== 0; rest &= rest - 1) bits += 1;
  return bits;
});

/** The number of bits that are set in all of these bitmaps, of the same chunk. */
export function countShared(bitmaps: readonly Uint8Array[]): number {
  const [first = new Uint8Array(), ...others] = bitmaps;
  let total = 0;
  for (let i = 0; i < first.length; i += 1) {
    let byte = first[i]!;
    for (const other of others) byte &= other[i]!;
    total += BITS_OF[byte]!;
  }
  return total;
}
