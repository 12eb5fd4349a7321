/** Computes the scalars of H from the witness. */
import { PAIR_BYTES } from "./constants.ts";
import { Domain } from "./domain.ts";
import { Kernel, type Program } from "./kernel.ts";
import { SCALAR_BYTES, TABLE_BYTES } from "./layout.ts";
import { importFactor, MONTGOMERY_BITS } from "./limbs.ts";
import { loadMatrices, type Matrices } from "./matrices.ts";
import type { Witness } from "./parts.ts";
import type { Zkey } from "./zkey.ts";

/** The data for a circuit's quotient, in its own scalar kernel. */
export interface Quotient {
  readonly kernel: Kernel;
  readonly variables: number;
  readonly domain: Domain;
  readonly matrices: Matrices;
}

export async function prepareQuotient(program: Program, zkey: Zkey): Promise<Quotient> {
  const kernel = await Kernel.instantiate(program);
  const domain = new Domain(kernel, zkey.domainSize);
  return { kernel, variables: zkey.variables, domain, matrices: loadMatrices(kernel, zkey) };
}

/** The values of (A·B - C)/Z on the coset, up to a constant that H's points already include: 32 bytes each. */
export function quotientScalars({ kernel, variables, domain, matrices }: Quotient, witness: Witness): Uint8Array {
  const size = domain.size * PAIR_BYTES;
  const mark = kernel.markSecrets();
  try {
    const raw = kernel.allocate(witness.byteLength);
    kernel.bytes(raw, witness.byteLength).set(witness);
    // The witness is not converted: this factor only undoes the division by R.
    const factor = kernel.allocatePair(importFactor(kernel.modulus, MONTGOMERY_BITS));
    kernel.call("import", raw, matrices.witness, variables, factor);
    // The rows take the place of the witness, which `wipe` clears with them.
    kernel.release(mark);
    const [ab, c] = [kernel.allocate(size), kernel.allocate(size)] as const;
    kernel.call("rows", matrices.program, matrices.counts, matrices.counts + 4 * domain.size, ab);
    kernel.call("products", ab, ab + size, c);
    domain.toCoset(ab);
    domain.toCoset(c);
    // Each scalar is written where rows were that have been read.
    kernel.call("finish", ab, ab + size, c, ab);
    return kernel.bytes(ab, domain.size * SCALAR_BYTES).slice();
  } finally {
    kernel.wipe(mark);
    kernel.bytes(matrices.witness, variables * TABLE_BYTES).fill(0);
  }
}
