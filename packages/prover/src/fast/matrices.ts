/** The matrices A and B of a circuit, as a program for the kernel's function `rows`. */
import { importFactor } from "./field-functions.ts";
import type { Kernel } from "./kernel.ts";
import { MONTGOMERY_BITS } from "./limbs.ts";
import { TABLE_BYTES } from "./ntt-kernel.ts";
import { ROW_STEP_BYTES } from "./scalar-kernel.ts";
import { COEFFICIENT_WORDS, FILE_MONTGOMERY_BITS, type Zkey } from "./zkey.ts";

/** Addresses in the scalar kernel. */
export interface Matrices {
  /** Address of the witness, 40 bytes per element. */
  readonly witness: number;
  readonly program: number;
  /** Steps of each row. */
  readonly counts: number;
}

/** A step has one coefficient of A's row and one of B's; the shorter row is padded with zeros. */
export function loadMatrices(kernel: Kernel, { coefficients, domainSize, variables }: Zkey): Matrices {
  const count = coefficients.length / COEFFICIENT_WORDS;
  const witness = kernel.allocate(variables * TABLE_BYTES);
  const zero = kernel.allocate(TABLE_BYTES);
  kernel.bytes(zero, TABLE_BYTES).fill(0);
  const values = loadValues(kernel, coefficients, count);
  const lengths = [new Int32Array(domainSize), new Int32Array(domainSize)] as const;
  const each = (visit: (entry: number, matrix: 0 | 1, row: number, variable: number) => void): void => {
    for (let entry = 0, word = 0; entry < count; entry++, word += COEFFICIENT_WORDS) {
      const [matrix, row] = [coefficients[word] as 0 | 1, coefficients[word + 1] as number];
      visit(entry, matrix, row, coefficients[word + 2] as number);
    }
  };
  each((_, matrix, row) => {
    lengths[matrix][row] = (lengths[matrix][row] as number) + 1;
  });
  const counts = kernel.allocate(4 * domainSize);
  const steps = lengths[0].map((length, row) => Math.max(length, lengths[1][row] as number));
  kernel.words(counts, domainSize).set(steps);
  const total = steps.reduce((sum, length) => sum + length, 0);
  const program = kernel.allocate(ROW_STEP_BYTES * total);
  const words = kernel.words(program, 4 * total);
  for (let word = 0; word < words.length; word += 2) words.set([zero, witness], word);
  let start = 0;
  const next = [new Int32Array(domainSize), new Int32Array(domainSize)] as const;
  for (let row = 0; row < domainSize; row++) {
    next[0][row] = start;
    next[1][row] = start;
    start += steps[row] as number;
  }
  each((entry, matrix, row, variable) => {
    const step = next[matrix][row] as number;
    next[matrix][row] = step + 1;
    words[4 * step + 2 * matrix] = values + entry * TABLE_BYTES;
    words[4 * step + 2 * matrix + 1] = witness + variable * TABLE_BYTES;
  });
  return { witness, program, counts };
}

/** Coefficients include the factor R^2; their product with a plain witness element is divided by R. */
function loadValues(kernel: Kernel, coefficients: Uint32Array, count: number): number {
  const values = kernel.allocate(count * TABLE_BYTES);
  const mark = kernel.mark();
  const raw = kernel.allocate(count * 32);
  const factor = kernel.allocatePair(importFactor(kernel.modulus, 2n * FILE_MONTGOMERY_BITS - MONTGOMERY_BITS));
  const words = new Uint32Array(kernel.memory.buffer, raw, count * 8);
  for (let entry = 0; entry < count; entry++) {
    const from = entry * COEFFICIENT_WORDS + 3;
    words.set(coefficients.subarray(from, from + 8), entry * 8);
  }
  kernel.call("import", raw, values, count, factor);
  kernel.wipe(mark);
  return values;
}
