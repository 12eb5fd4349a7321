/** Points from their x-coordinates. */
import { areCanonical } from "../fast/canonical.ts";
import { Kernel, type Program } from "../fast/kernel.ts";
import { COORDINATE_BYTES, type Degree, SCALAR_BYTES } from "../fast/layout.ts";
import { importFactor } from "../fast/limbs.ts";
import { FILE_MONTGOMERY_BITS } from "../fast/zkey.ts";

/** The kernel computes four points in each step. */
const STEP_POINTS = 4;
/** The highest bit of an x-coordinate's last byte, which numbers below the field's order do not use: y is odd. */
export const ODD = 0x80;

const kernels = new WeakMap<Program, Promise<Kernel>>();

function kernelOf(program: Program): Promise<Kernel> {
  let kernel = kernels.get(program);
  if (kernel === undefined) {
    kernel = Kernel.instantiate(program);
    kernels.set(program, kernel);
    // The next call tries again.
    kernel.catch(() => kernels.delete(program));
  }
  return kernel;
}

/**
 * @param program the kernel of roots
 * @param packed x-coordinates as in a proving key's file, each with the bit `ODD` in its last byte
 * @returns the points as in the file; undefined if an x-coordinate has no point
 */
export async function pointsOf(program: Program, degree: Degree, packed: Uint8Array): Promise<Uint8Array | undefined> {
  const kernel = await kernelOf(program);
  const mark = kernel.mark();
  try {
    return compute(kernel, degree, packed);
  } finally {
    kernel.release(mark);
  }
}

function compute(kernel: Kernel, degree: Degree, packed: Uint8Array): Uint8Array | undefined {
  const size = degree * SCALAR_BYTES;
  const count = packed.byteLength / size;
  const padded = Math.ceil(count / STEP_POINTS) * STEP_POINTS;
  const numbers = kernel.allocate(padded * size);
  const elements = kernel.allocate(padded * degree * COORDINATE_BYTES);
  const signs = kernel.allocate(padded * 8);
  const points = kernel.allocate(padded * 2 * size);
  const factor = kernel.allocatePair(importFactor(kernel.modulus, FILE_MONTGOMERY_BITS));
  const [bytes, words] = [kernel.bytes(numbers, padded * size), kernel.words(signs, padded * 2)];
  bytes.set(packed);
  // The last point once more, so that the padding is on the curve if the points are.
  for (let point = count; point < padded; point++) bytes.copyWithin(point * size, (count - 1) * size, count * size);
  words.fill(0);
  for (let point = 0; point < padded; point++) {
    const last = (point + 1) * size - 1;
    const byte = bytes[last] as number;
    words[2 * point + 1] = byte & ODD ? -1 : 0;
    bytes[last] = byte & ~ODD;
  }
  if (!areCanonical(bytes, kernel.modulus)) return undefined;
  kernel.call("import", numbers, elements, padded * degree, factor);
  const areOnCurve = kernel.call(`roots${degree}`, numbers, elements, signs, points, numbers + padded * size);
  return areOnCurve === 1 ? kernel.bytes(points, count * 2 * size).slice() : undefined;
}
