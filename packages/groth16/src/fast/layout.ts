/** Sizes in a kernel's memory, bytes. They are not in the kernels' files, which a built package does not load. */
import { PAIR_BYTES } from "./constants.ts";

/** A page of WebAssembly's memory. */
export const PAGE_BYTES = 65536;
// Literals, because a page's bundler leaves out unused literals, but no unused products. A coordinate is five doubles.
export const COORDINATE_BYTES = 40;
/** An element of a table: five doubles, the same for both lanes. */
export const TABLE_BYTES = 40;
/** A scalar or another number from outside the kernel. */
export const SCALAR_BYTES = 32;
/** A coefficient of a key's matrices: matrix, row and variable, 32 bits each, and the value. */
export const COEFFICIENT_BYTES = 44;
/** A coefficient whose value is in a table: row (A's, then B's), variable and number of the value, 32 bits each. */
export const INDEXED_BYTES = 3 * 4;
/** An entry of a list: the address of a point. */
export const ENTRY_BYTES = 4;
/** A list of points: the address of its entries, and their number. */
export const LIST_BYTES = 8;
/** A step of `rows`: the addresses of a coefficient and a witness element of A, then of B. */
export const ROW_STEP_BYTES = 16;

/** 1 for G1, 2 for G2: coordinates of a point are in Fq or Fq2. */
export type Degree = 1 | 2;

/**
 * Size of the scratch memory per step, bytes: the difference of the x-coordinates, its norm (G2), and the product of
 * the previous ones.
 */
export function scratchBytes(degree: Degree): number {
  return PAIR_BYTES * (degree === 1 ? 2 : 4);
}

export function pointBytes(degree: Degree): number {
  return 2 * degree * COORDINATE_BYTES;
}
