/** A proving key laid out in the kernels' memories, once for many proofs. */

import { BASE_FIELD_ORDER, SCALAR_FIELD_ORDER } from "../proof/decode.ts";
import { COORDINATE_BYTES, compileCurveKernel, type Degree, pointBytes } from "./curve-kernel.ts";
import { Domain } from "./domain.ts";
import { importFactor } from "./field-functions.ts";
import { Kernel, type Program } from "./kernel.ts";
import { loadMatrices, type Matrices } from "./matrices.ts";
import { compileScalarKernel } from "./scalar-kernel.ts";
import { FILE_MONTGOMERY_BITS, type Zkey } from "./zkey.ts";

const ELEMENT_BYTES = 32;

/** Bases without those at infinity, and which scalars they go with. */
export interface Bases {
  readonly points: number;
  /** Index of each base's scalar. */
  readonly indices: Uint32Array;
}

export interface ProvingKey {
  readonly zkey: Zkey;
  readonly curve: Kernel;
  readonly scalars: Kernel;
  readonly domain: Domain;
  readonly a: Bases;
  readonly b1: Bases;
  readonly b2: Bases;
  readonly c: Bases;
  readonly h: Bases;
  readonly matrices: Matrices;
}

let programs: Promise<[Program, Program]> | undefined;

export async function prepareKey(zkey: Zkey): Promise<ProvingKey> {
  programs ??= Promise.all([compileCurveKernel(BASE_FIELD_ORDER), compileScalarKernel(SCALAR_FIELD_ORDER)]);
  const [curve, scalars] = await Promise.all((await programs).map((program) => Kernel.instantiate(program)));
  if (curve === undefined || scalars === undefined) throw new Error("two kernels are two");
  const bases = (file: Uint8Array, degree: Degree, first = 0): Bases => loadBases(curve, file, degree, first);
  return {
    zkey,
    curve,
    scalars,
    a: bases(zkey.a, 1),
    b1: bases(zkey.b1, 1),
    b2: bases(zkey.b2, 2),
    c: bases(zkey.c, 1, zkey.publicSignals + 1),
    h: bases(zkey.h, 1),
    domain: new Domain(scalars, zkey.domainSize),
    matrices: loadMatrices(scalars, zkey),
  };
}

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
