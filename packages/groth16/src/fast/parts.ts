// Apart from the kernels, because the types of engines name them, and users' compilers may not know WebAssembly's types.
import type { Point } from "../curve.ts";

/** A witness: element i (0 is the constant one, then the public signals) in bytes 32i to 32i + 32, little-endian. */
export type Witness = Uint8Array;

/**
 * The sections of a key that contain bases: A, B (in both groups) and C, multiplied by the witness, and H, multiplied
 * by the quotient.
 */
export type Part = "a" | "b1" | "b2" | "c" | "h";

/** The sums of the parts' bases times their scalars, in the curve's internal form. */
export type Sums = { readonly [part in Part]?: Point };
