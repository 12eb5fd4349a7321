/** The matrices A and B of a circuit, as a program for the kernel's function `rows`. */
import { areCanonical } from "./canonical.ts";
import type { Kernel } from "./kernel.ts";
import { type KeyBytes, readPiece } from "./key-bytes.ts";
import { COEFFICIENT_BYTES, INDEXED_BYTES, ROW_STEP_BYTES, SCALAR_BYTES, TABLE_BYTES } from "./layout.ts";
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

/** Coefficients that are copied into the kernel at once: they stay in the processor's cache. */
const CHUNK = 2048;

/**
 * A step has one coefficient of A's row and one of B's; the shorter row is padded with zeros.
 * @throws Groth16Error PROVING_KEY_INVALID, CIRCUIT_FILE_UNREADABLE
 */
export function loadMatrices(kernel: Kernel, { coefficients, domainSize: rows, variables }: Zkey): Matrices {
  const count = coefficients.byteLength / COEFFICIENT_BYTES;
  const [witness, zero] = [kernel.allocate(variables * TABLE_BYTES), kernel.allocate(TABLE_BYTES)];
  kernel.bytes(zero, TABLE_BYTES).fill(0);
  const counts = kernel.allocate(4 * rows);
  // There are no more steps than coefficients.
  const program = kernel.allocate(count * ROW_STEP_BYTES);
  // The table of values later replaces the indexed coefficients at the same address: they are in the program then.
  const indexed = kernel.allocate(count * TABLE_BYTES);
  const values = indexed;
  const end = indexed + count * INDEXED_BYTES;
  const raw = kernel.allocate(count * SCALAR_BYTES);
  const distinct = indexCoefficients(kernel, coefficients, { rows, variables, indexed, raw });
  if (!areCanonical(kernel.bytes(raw, distinct * SCALAR_BYTES), kernel.modulus))
    throw invalidKey("a coefficient is not below the field's order");
  const next = zeroWords(kernel, 2 * rows);
  kernel.call("lengths", indexed, end, next);
  const steps = kernel.call("starts", next, rows, counts);
  kernel.call("blank", program, program + steps * ROW_STEP_BYTES, zero, witness);
  kernel.call("program", indexed, end, rows, next, program, values, witness);
  // They include the factor R^2; their product with a plain witness element is divided by R.
  const factor = kernel.allocatePair(importFactor(kernel.modulus, 2n * FILE_MONTGOMERY_BITS - MONTGOMERY_BITS));
  kernel.call("import", raw, values, distinct, factor);
  kernel.release(values + distinct * TABLE_BYTES);
  return { witness, program, counts };
}

/** Writes the coefficients to `indexed` and their values to `raw`. @returns the number of values */
function indexCoefficients(
  kernel: Kernel,
  coefficients: KeyBytes,
  to: { rows: number; variables: number; indexed: number; raw: number },
): number {
  const size = CHUNK * COEFFICIENT_BYTES;
  const chunk = kernel.allocate(size);
  // In circuits of curves and hashes, a value occurs seven times or more on average.
  const slots = 2 ** Math.ceil(Math.log2(coefficients.byteLength / COEFFICIENT_BYTES / 2 + 2));
  const table = zeroWords(kernel, slots);
  let [distinct, indexed] = [0, to.indexed];
  for (let offset = 0; offset < coefficients.byteLength; offset += size) {
    const length = Math.min(size, coefficients.byteLength - offset);
    const end = chunk + length;
    readPiece(coefficients, kernel.bytes(chunk, length), offset);
    if (kernel.call("outOfRange", chunk, end, to.rows, to.variables) !== 0)
      throw invalidKey("a coefficient is out of range");
    distinct = kernel.call("index", chunk, end, to.rows, table, slots - 1, to.raw, distinct, indexed);
    indexed += (length / COEFFICIENT_BYTES) * INDEXED_BYTES;
  }
  return distinct;
}

function zeroWords(kernel: Kernel, count: number): number {
  const address = kernel.allocate(4 * count);
  kernel.bytes(address, 4 * count).fill(0);
  return address;
}
