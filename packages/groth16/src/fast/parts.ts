// The types that an engine's interface names. They are not in the kernels' files, because a user's compiler may not know the
// types of WebAssembly.
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
