/** A proving key laid out in the kernels' memories, once for many proofs. */

import { compileCode, Kernel, type Program } from "./kernel.ts";
import { curveCode, scalarCode } from "./kernels.ts";
import { COORDINATE_BYTES, type Degree, pointBytes } from "./layout.ts";
import { importFactor } from "./limbs.ts";
import type { Part } from "./parts.ts";
import { prepareQuotient, type Quotient } from "./quotient.ts";
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

let programs: { readonly curve: Promise<Program>; readonly scalar: Promise<Program> } | undefined;

function compilePrograms(): NonNullable<typeof programs> {
  programs ??= { curve: curveCode().then(compileCode), scalar: scalarCode().then(compileCode) };
  return programs;
}

export async function prepareKey(zkey: Zkey, parts: readonly Part[]): Promise<ProvingKey> {
  const curve = await Kernel.instantiate(await compilePrograms().curve);
  const bases: { [part in Part]?: Bases } = {};
  for (const part of parts) {
    bases[part] = loadBases(curve, zkey[part], part === "b2" ? 2 : 1, part === "c" ? zkey.publicSignals + 1 : 0);
  }
  const quotient = parts.includes("h") ? await prepareQuotient(await compilePrograms().scalar, zkey) : undefined;
  return { curve, bases, quotient };
}

/** @param first index of the first base's scalar */
function loadBases(kernel: Kernel, file: Uint8Array, degree: Degree, first: number): Bases {
  const size = 2 * degree * ELEMENT_BYTES;
  // Sections are not aligned: only a copy can be read as words.
  const kept = keptPoints(new Uint32Array(file.slice().buffer), size / 4);
  const points = kernel.allocate(kept.length * pointBytes(degree));
  const mark = kernel.mark();
  const raw = kernel.allocate(kept.length * size);
  const factor = kernel.allocatePair(importFactor(kernel.modulus, FILE_MONTGOMERY_BITS));
  const bytes = kernel.bytes(raw, kept.length * size);
  // Few points are at infinity, so the others are copied in long runs.
  for (let place = 0; place < kept.length; ) {
    const index = kept[place] as number;
    let run = 1;
    while (kept[place + run] === index + run) run++;
    bytes.set(file.subarray(index * size, (index + run) * size), place * size);
    place += run;
  }
  kernel.call("import", raw, points, (kept.length * pointBytes(degree)) / COORDINATE_BYTES, factor);
  kernel.release(mark);
  return { points, indices: kept.map((index) => index + first) };
}

/** The indices of the points that are not at infinity, which is all zeros. */
function keptPoints(words: Uint32Array, pointWords: number): Uint32Array {
  const kept = new Uint32Array(words.length / pointWords);
  let count = 0;
  for (let start = 0; start < words.length; start += pointWords) {
    let word = start;
    while (word < start + pointWords && words[word] === 0) word++;
    if (word < start + pointWords) kept[count++] = start / pointWords;
  }
  return kept.slice(0, count);
}
