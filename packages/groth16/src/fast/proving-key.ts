/** A proving key laid out in the kernels' memories, once for many proofs. */

import { areCanonical } from "./canonical.ts";
import { Kernel } from "./kernel.ts";
import { type KeyBytes, readPiece } from "./key-bytes.ts";
import { COORDINATE_BYTES, type Degree, ENTRY_BYTES, pointBytes, SCALAR_BYTES } from "./layout.ts";
import { importFactor } from "./limbs.ts";
import { sumBytes } from "./msm.ts";
import type { Part } from "./parts.ts";
import type { Programs } from "./programs.ts";
import { prepareQuotient, type Quotient } from "./quotient.ts";
import { FILE_MONTGOMERY_BITS, invalidKey, type Zkey } from "./zkey.ts";

/** Bases are read into the kernel in pieces of at most this size, which later sums use again: a multiple of a point's. */
const PIECE_BYTES = 1 << 21;

/** The bases, except those at infinity, in the curve kernel's memory. */
export interface Bases {
  /** Address of the first base. */
  readonly points: number;
  readonly count: number;
  /** Address of the number of each base's scalar, 32 bits each. */
  readonly indices: number;
}

export interface ProvingKey {
  readonly curve: Kernel;
  /** Contains only the parts for which the key was prepared. */
  readonly bases: { readonly [part in Part]?: Bases };
  /** Defined only if the key was prepared for the part h. */
  readonly quotient: Quotient | undefined;
}

/** @throws Groth16Error PROVING_KEY_INVALID, CIRCUIT_FILE_UNREADABLE */
export async function prepareKey(zkey: Zkey, parts: readonly Part[], programs: Programs): Promise<ProvingKey> {
  const curve = await Kernel.instantiate(programs.curve);
  const bases: { [part in Part]?: Bases } = {};
  for (const part of parts)
    bases[part] = loadBases(curve, zkey[part], part === "b2" ? 2 : 1, part === "c" ? zkey.publicSignals + 1 : 0);
  // The memory is touched now, while the program may be waiting for something else, instead of during a proof.
  curve.touch(sumBytes(zkey.variables));
  const quotient = parts.includes("h") ? await prepareQuotient(programs.scalar, zkey) : undefined;
  return { curve, bases, quotient };
}

/** @param first number of the first base's scalar */
function loadBases(kernel: Kernel, section: KeyBytes, degree: Degree, first: number): Bases {
  const size = 2 * degree * SCALAR_BYTES;
  const all = section.byteLength / size;
  const indices = kernel.allocate(all * ENTRY_BYTES);
  const points = kernel.allocate(all * pointBytes(degree));
  const factor = kernel.allocatePair(importFactor(kernel.modulus, FILE_MONTGOMERY_BITS));
  const raw = kernel.allocate(Math.min(PIECE_BYTES, section.byteLength));
  let count = 0;
  for (let offset = 0; offset < section.byteLength; offset += PIECE_BYTES) {
    const piece = kernel.bytes(raw, Math.min(PIECE_BYTES, section.byteLength - offset));
    readPiece(section, piece, offset);
    if (!areCanonical(piece, kernel.modulus)) throw invalidKey("a coordinate is not below the field's order");
    const [read, to] = [piece.byteLength / size, points + count * pointBytes(degree)];
    const found = kernel.call("compact", raw, read, size, indices + count * ENTRY_BYTES, first + offset / size);
    kernel.call("import", raw, to, (found * pointBytes(degree)) / COORDINATE_BYTES, factor);
    count += found;
  }
  kernel.release(points + count * pointBytes(degree));
  return { points, count, indices };
}
