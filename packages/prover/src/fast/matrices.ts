/** The matrices A and B of a circuit, as a program for the kernel's function `rows`. */
import type { Kernel } from "./kernel.ts";
import { ROW_STEP_BYTES, TABLE_BYTES } from "./layout.ts";
import { importFactor, MONTGOMERY_BITS } from "./limbs.ts";
import { COEFFICIENT_WORDS, FILE_MONTGOMERY_BITS, readCoefficients, type Zkey } from "./zkey.ts";

/** 32-bit words of a coefficient. */
const VALUE_WORDS = 8;

/** Addresses in the scalar kernel. */
export interface Matrices {
  /** Address of the witness, 40 bytes per element. */
  readonly witness: number;
  readonly program: number;
  /** Steps of each row. */
  readonly counts: number;
}

/** A step has one coefficient of A's row and one of B's; the shorter row is padded with zeros. */
export function loadMatrices(kernel: Kernel, zkey: Zkey): Matrices {
  const { domainSize, variables } = zkey;
  const coefficients = readCoefficients(zkey);
  const count = coefficients.length / COEFFICIENT_WORDS;
  const witness = kernel.allocate(variables * TABLE_BYTES);
  const zero = kernel.allocate(TABLE_BYTES);
  kernel.bytes(zero, TABLE_BYTES).fill(0);
  const { address: values, places } = loadValues(kernel, coefficients, count);
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
  for (let word = 0; word < words.length; word += 2) {
    words[word] = zero;
    words[word + 1] = witness;
  }
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
    words[4 * step + 2 * matrix] = values + (places[entry] as number) * TABLE_BYTES;
    words[4 * step + 2 * matrix + 1] = witness + variable * TABLE_BYTES;
  });
  return { witness, program, counts };
}

interface Values {
  /** Address of the distinct coefficients. */
  readonly address: number;
  /** The place of each entry's coefficient among them. */
  readonly places: Uint32Array;
}

/**
 * Coefficients include the factor R^2; their product with a plain witness element is divided by R. Most are the same few
 * numbers (1, -1, powers of 2), so each number is converted and stored once.
 */
function loadValues(kernel: Kernel, coefficients: Uint32Array, count: number): Values {
  const { distinct, places } = findDistinct(coefficients, count);
  const address = kernel.allocate(distinct.length * TABLE_BYTES);
  const mark = kernel.mark();
  const raw = kernel.allocate(distinct.length * 32);
  const factor = kernel.allocatePair(importFactor(kernel.modulus, 2n * FILE_MONTGOMERY_BITS - MONTGOMERY_BITS));
  const words = new Uint32Array(kernel.memory.buffer, raw, distinct.length * VALUE_WORDS);
  for (const [place, entry] of distinct.entries()) {
    const from = entry * COEFFICIENT_WORDS + 3;
    words.set(coefficients.subarray(from, from + VALUE_WORDS), place * VALUE_WORDS);
  }
  kernel.call("import", raw, address, distinct.length, factor);
  kernel.wipe(mark);
  return { address, places };
}

/** The first entry of each distinct coefficient, and each entry's place among them; a hash table with open addressing. */
function findDistinct(coefficients: Uint32Array, count: number): { distinct: number[]; places: Uint32Array } {
  const places = new Uint32Array(count);
  const distinct: number[] = [];
  // At most half full. A slot is 0 if it is empty, otherwise a place plus 1.
  const slots = new Uint32Array(2 ** Math.ceil(Math.log2(2 * count + 2)));
  for (let entry = 0; entry < count; entry++) {
    const from = entry * COEFFICIENT_WORDS + 3;
    // Numbers are in Montgomery form, so their low words differ. The key was checked by hash: nobody chose collisions.
    const hash = Math.imul(coefficients[from] as number, 0x9e3779b1);
    let slot = (hash ^ (hash >>> 16)) & (slots.length - 1);
    for (; slots[slot] !== 0; slot = (slot + 1) & (slots.length - 1)) {
      const other = (distinct[(slots[slot] as number) - 1] as number) * COEFFICIENT_WORDS + 3;
      let word = 0;
      while (word < VALUE_WORDS && coefficients[from + word] === coefficients[other + word]) word++;
      if (word === VALUE_WORDS) break;
    }
    if (slots[slot] === 0) slots[slot] = distinct.push(entry);
    places[entry] = (slots[slot] as number) - 1;
  }
  return { distinct, places };
}
