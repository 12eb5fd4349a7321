/** A proving key laid out in the kernels' memories, once for many proofs. */

import { BASE_FIELD_ORDER, SCALAR_FIELD_ORDER } from "../proof/decode.ts";
import { COORDINATE_BYTES, compileCurveKernel, type Degree, pointBytes } from "./curve-kernel.ts";
import { Domain } from "./domain.ts";
import { importFactor } from "./field-functions.ts";
import { Kernel, type Program } from "./kernel.ts";
import { MONTGOMERY_BITS } from "./limbs.ts";
import { TABLE_BYTES } from "./ntt-kernel.ts";
import { compileScalarKernel, ROW_STEP_BYTES } from "./scalar-kernel.ts";
import type { Zkey } from "./zkey.ts";

/** Montgomery's R of snarkjs's files, in bits. */
const FILE_MONTGOMERY_BITS = 256n;
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
  /** In the scalar kernel: where the witness goes, 40 bytes an element, and the program that makes A and B of it. */
  readonly witness: number;
  readonly program: number;
  readonly counts: number;
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
    ...loadMatrices(scalars, zkey),
  };
}

function loadBases(kernel: Kernel, file: Uint8Array, degree: Degree, first: number): Bases {
  const size = 2 * degree * ELEMENT_BYTES;
  const all = Array.from({ length: file.byteLength / size }, (_, index) => index);
  const kept = all.filter((index) => file.subarray(index * size, (index + 1) * size).some((byte) => byte !== 0));
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

/**
 * Coefficients, sorted by row, as a program of the kernel: a step takes one of A's row and one of B's; where one row is
 * longer the other takes zeros. Coefficients carry R^2, so that coefficient times a plain witness element is over R.
 */
function loadMatrices(kernel: Kernel, { coefficients, domainSize, variables }: Zkey) {
  const count = coefficients.length;
  const witness = kernel.allocate(variables * TABLE_BYTES);
  const zero = kernel.allocate(TABLE_BYTES);
  kernel.doubles(zero, TABLE_BYTES / 8).fill(0);
  const values = kernel.allocate(count * TABLE_BYTES);
  const rows = Array.from({ length: domainSize }, (): [number[], number[]] => [[], []]);
  for (const [index, { matrix, row }] of coefficients.entries()) rows[row]?.[matrix as 0 | 1].push(index);
  const lengths = rows.map(([a, b]) => Math.max(a.length, b.length));
  const counts = kernel.allocate(4 * domainSize);
  const program = kernel.allocate(ROW_STEP_BYTES * lengths.reduce((sum, length) => sum + length, 0));
  const mark = kernel.mark();
  const raw = kernel.allocate(count * ELEMENT_BYTES);
  const scale = 2n * FILE_MONTGOMERY_BITS - MONTGOMERY_BITS;
  const factor = kernel.allocatePair(importFactor(kernel.modulus, scale));
  const bytes = kernel.bytes(raw, count * ELEMENT_BYTES);
  for (const [index, { value }] of coefficients.entries()) bytes.set(value, index * ELEMENT_BYTES);
  kernel.call("import", raw, values, count, factor);
  kernel.release(mark);
  kernel.words(counts, domainSize).set(lengths);
  const steps = rows.flatMap(([a, b], row) =>
    Array.from({ length: lengths[row] as number }, (_, step) =>
      [a[step], b[step]].flatMap((index) => {
        const variable = index === undefined ? undefined : coefficients[index]?.variable;
        if (index === undefined || variable === undefined) return [zero, witness];
        return [values + index * TABLE_BYTES, witness + variable * TABLE_BYTES];
      }),
    ).flat(),
  );
  kernel.words(program, steps.length).set(steps);
  return { witness, program, counts };
}
