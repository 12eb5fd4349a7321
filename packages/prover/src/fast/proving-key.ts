/** A proving key laid out in the kernels' memories, once for many proofs. */
import { BASE_FIELD_ORDER, SCALAR_FIELD_ORDER } from "../proof/decode.ts";
import { COORDINATE_BYTES, compileCurveKernel, type Degree, pointBytes } from "./curve-kernel.ts";
import { importFactor } from "./field-functions.ts";
import { Kernel, type Program } from "./kernel.ts";
import type { Part } from "./parts.ts";
import { prepareQuotient, type Quotient } from "./quotient.ts";
import { compileScalarKernel } from "./scalar-kernel.ts";
import { FILE_MONTGOMERY_BITS, type Zkey } from "./zkey.ts";

const ELEMENT_BYTES = 32;

/** The bases, except those at infinity, and the indices of their scalars. */
export interface Bases {
  readonly points: number;
  /** Index of each base's scalar. */
  readonly indices: Uint32Array;
}

export interface ProvingKey {
  readonly curve: Kernel;
  /** Contains only the parts for which the key was prepared. */
  readonly bases: { readonly [part in Part]?: Bases };
  /** Defined only if the key was prepared for the part h. */
  readonly quotient: Quotient | undefined;
}

let programs: Promise<[Program, Program]> | undefined;

export async function prepareKey(zkey: Zkey, parts: readonly Part[]): Promise<ProvingKey> {
  programs ??= Promise.all([compileCurveKernel(BASE_FIELD_ORDER), compileScalarKernel(SCALAR_FIELD_ORDER)]);
  const [curveProgram, scalarProgram] = await programs;
  const curve = await Kernel.instantiate(curveProgram);
  const bases: { [part in Part]?: Bases } = {};
  for (const part of parts) {
    bases[part] = loadBases(curve, zkey[part], part === "b2" ? 2 : 1, part === "c" ? zkey.publicSignals + 1 : 0);
  }
  return { curve, bases, quotient: parts.includes("h") ? await prepareQuotient(scalarProgram, zkey) : undefined };
}

/** @param first index of the first base's scalar */
function loadBases(kernel: Kernel, file: Uint8Array, degree: Degree, first: number): Bases {
  const size = 2 * degree * ELEMENT_BYTES;
  const kept: number[] = [];
  for (let offset = 0; offset < file.byteLength; offset += size) {
    if (file.subarray(offset, offset + size).some((byte) => byte !== 0)) kept.push(offset / size);
  }
  const points = kernel.allocate(kept.length * pointBytes(degree));
  const mark = kernel.mark();
  const raw = kernel.allocate(kept.length * size);
  const factor = kernel.allocatePair(importFactor(kernel.modulus, FILE_MONTGOMERY_BITS));
  const bytes = kernel.bytes(raw, kept.length * size);
  for (const [place, index] of kept.entries()) bytes.set(file.subarray(index * size, (index + 1) * size), place * size);
  kernel.call("import", raw, points, (kept.length * pointBytes(degree)) / COORDINATE_BYTES, factor);
  kernel.release(mark);
  return { points, indices: Uint32Array.from(kept, (index) => index + first) };
}
