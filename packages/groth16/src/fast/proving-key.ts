/** A proving key laid out in the kernels' memories, once for many proofs. */

import { areCanonical } from "./canonical.ts";
import { Kernel } from "./kernel.ts";
import { COORDINATE_BYTES, type Degree, ENTRY_BYTES, pointBytes, SCALAR_BYTES } from "./layout.ts";
import { importFactor } from "./limbs.ts";
import { sumBytes } from "./msm.ts";
import type { Part } from "./parts.ts";
import type { Programs } from "./programs.ts";
import { prepareQuotient, type Quotient } from "./quotient.ts";
import { FILE_MONTGOMERY_BITS, invalidKey, type Zkey } from "./zkey.ts";

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

/** @throws Groth16Error PROVING_KEY_INVALID */
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
function loadBases(kernel: Kernel, file: Uint8Array, degree: Degree, first: number): Bases {
  const size = 2 * degree * SCALAR_BYTES;
  const all = file.byteLength / size;
  const indices = kernel.allocate(all * ENTRY_BYTES);
  const points = kernel.allocate(all * pointBytes(degree));
  const raw = kernel.allocate(file.byteLength);
  kernel.bytes(raw, file.byteLength).set(file);
  if (!areCanonical(kernel.bytes(raw, file.byteLength), kernel.modulus))
    throw invalidKey("a coordinate is not below the field's order");
  const count = kernel.call("compact", raw, all, size, indices, first);
  const factor = kernel.allocatePair(importFactor(kernel.modulus, FILE_MONTGOMERY_BITS));
  kernel.call("import", raw, points, (count * pointBytes(degree)) / COORDINATE_BYTES, factor);
  kernel.release(points + count * pointBytes(degree));
  return { points, count, indices };
}
