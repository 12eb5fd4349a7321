/** The matrices A and B of a circuit, as a program for the kernel's function `rows`. */
import type { Kernel } from "./kernel.ts";
import { COEFFICIENT_BYTES, ROW_STEP_BYTES, SCALAR_BYTES, TABLE_BYTES } from "./layout.ts";
import { importFactor, MONTGOMERY_BITS } from "./limbs.ts";
import { FILE_MONTGOMERY_BITS, invalidKey, type Zkey } from "./zkey.ts";

/** Addresses in the scalar kernel. */
export interface Matrices {
  /** Address of the witness, 40 bytes per element. */
  readonly witness: number;
  readonly program: number;
  /** Steps of each row. */
  readonly counts: number;
}

/**
 * A step has one coefficient of A's row and one of B's; the shorter row is padded with zeros.
 *
 * @throws SottoError PROVING_KEY_INVALID
 */
export function loadMatrices(kernel: Kernel, { coefficients, domainSize: rows, variables }: Zkey): Matrices {
  const size = coefficients.byteLength;
  const count = size / COEFFICIENT_BYTES;
  const [witness, zero] = [kernel.allocate(variables * TABLE_BYTES), kernel.allocate(TABLE_BYTES)];
  kernel.bytes(zero, TABLE_BYTES).fill(0);
  const counts = kernel.allocate(4 * rows);
  // There are no more steps than coefficients.
  const program = kernel.allocate(count * ROW_STEP_BYTES);
  // The table of values later replaces the coefficients at the same address: they are in the program then, and are larger.
  const start = kernel.allocate(size);
  const values = start;
  const end = start + size;
  kernel.bytes(start, size).set(coefficients);
  if (kernel.call("outOfRange", start, end, rows, variables) !== 0) throw invalidKey("a coefficient is out of range");
  // Most coefficients are the same few numbers (1, -1, powers of 2), so each number is converted and stored once.
  const slots = 2 ** Math.ceil(Math.log2(2 * count + 2));
  const raw = kernel.allocate(count * SCALAR_BYTES);
  const distinct = kernel.call("distinct", start, end, zeroWords(kernel, slots), slots - 1, raw);
  const next = zeroWords(kernel, 2 * rows);
  kernel.call("lengths", start, end, rows, next);
  const steps = kernel.call("starts", next, rows, counts);
  kernel.call("blank", program, program + steps * ROW_STEP_BYTES, zero, witness);
  kernel.call("program", start, end, rows, next, program, values, witness);
  // They include the factor R^2; their product with a plain witness element is divided by R.
  const factor = kernel.allocatePair(importFactor(kernel.modulus, 2n * FILE_MONTGOMERY_BITS - MONTGOMERY_BITS));
  kernel.call("import", raw, values, distinct, factor);
  kernel.release(values + distinct * TABLE_BYTES);
  return { witness, program, counts };
}

function zeroWords(kernel: Kernel, count: number): number {
  const address = kernel.allocate(4 * count);
  kernel.bytes(address, 4 * count).fill(0);
  return address;
}
