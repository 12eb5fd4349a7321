import { randomBelow } from "@sotto/test-kit/random-below";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { assert } from "chai";
import { PAIR_BYTES } from "../src/fast/constants.ts";
import { compileCode, Kernel } from "../src/fast/kernel.ts";
import { COEFFICIENT_BYTES, SCALAR_BYTES } from "../src/fast/layout.ts";
import { importFactor, MONTGOMERY_BITS } from "../src/fast/limbs.ts";
import { loadMatrices } from "../src/fast/matrices.ts";
import { assembleScalarKernel } from "../src/fast/scalar-kernel.ts";
import type { Zkey } from "../src/fast/zkey.ts";
import { SCALAR_FIELD_ORDER as r } from "../src/proof/orders.ts";

interface Entry {
  readonly matrix: number;
  readonly row: number;
  readonly variable: number;
  readonly value: bigint;
}

function writeScalar(view: DataView, offset: number, value: bigint): void {
  for (let word = 0; word < 4; word++)
    view.setBigUint64(offset + 8 * word, BigInt.asUintN(64, value >> BigInt(64 * word)), true);
}

/** The fields of a key that `loadMatrices` reads, with coefficients as in a file. */
function keyOf(entries: readonly Entry[], rows: number, variables: number): Zkey<Uint8Array> {
  const coefficients = new Uint8Array(entries.length * COEFFICIENT_BYTES);
  const view = new DataView(coefficients.buffer);
  for (const [index, { matrix, row, variable, value }] of entries.entries()) {
    const offset = index * COEFFICIENT_BYTES;
    for (const [word, number] of [matrix, row, variable].entries()) view.setUint32(offset + 4 * word, number, true);
    writeScalar(view, offset + 12, (value << 512n) % r);
  }
  return { coefficients, domainSize: rows, variables } as unknown as Zkey<Uint8Array>;
}

const newKernel = async (): Promise<Kernel> => Kernel.instantiate(compileCode(assembleScalarKernel(r)));

/** Both products of the matrices and a witness, row by row. */
function multiply(kernel: Kernel, key: Zkey, witness: readonly bigint[]): [bigint, bigint][] {
  const matrices = loadMatrices(kernel, key);
  const raw = kernel.allocate(witness.length * SCALAR_BYTES);
  const view = new DataView(kernel.buffer);
  for (const [index, value] of witness.entries()) writeScalar(view, raw + index * SCALAR_BYTES, value);
  const factor = kernel.allocatePair(importFactor(kernel.modulus, MONTGOMERY_BITS));
  kernel.call("import", raw, matrices.witness, witness.length, factor);
  const out = kernel.allocate(key.domainSize * PAIR_BYTES);
  kernel.call("rows", matrices.program, matrices.counts, matrices.counts + 4 * key.domainSize, out);
  return Array.from({ length: key.domainSize }, (_, row) => {
    // The lanes of a pair alternate.
    const pair = kernel.doubles(out + row * PAIR_BYTES, PAIR_BYTES / 8).slice();
    return [0, 1].map((lane) => {
      const element = kernel.allocate(PAIR_BYTES / 2);
      kernel.doubles(element, pair.length / 2).set(pair.filter((_, index) => index % 2 === lane));
      return kernel.read(element);
    }) as [bigint, bigint];
  });
}

function expected(entries: readonly Entry[], rows: number, witness: readonly bigint[]): [bigint, bigint][] {
  const sums = Array.from({ length: rows }, (): [bigint, bigint] => [0n, 0n]);
  for (const { matrix, row, variable, value } of entries) {
    const sum = sums[row]!;
    sum[matrix] = (sum[matrix]! + value * witness[variable]!) % r;
  }
  return sums;
}

describe("fast engine: a circuit's matrices", function () {
  slow(this, "kernels are assembled");
  const [rows, variables] = [8, 20];

  it("multiply a witness like bigints, in any order, with rows of different lengths and repeated values", async () => {
    const values = [0n, 1n, r - 1n, 2n, 1n << 200n, ...Array.from({ length: 4 }, () => randomBelow(r))];
    const below = (limit: number): number => Number(randomBelow(BigInt(limit)));
    const entries = Array.from({ length: 300 }, (): Entry => {
      // Rows 3 and 4 have coefficients of one matrix only, and row 5 has none.
      const row = [0, 1, 2, 3, 4, 6, 7][below(7)]!;
      const matrix = row === 3 ? 0 : row === 4 ? 1 : below(2);
      return { matrix, row, variable: below(variables), value: values[below(values.length)]! };
    });
    const witness = Array.from({ length: variables }, () => randomBelow(r));
    const kernel = await newKernel();
    // Memory that was used before is not zero.
    const mark = kernel.mark();
    const dirty = kernel.allocate(1 << 20);
    kernel.bytes(dirty, 1 << 20).fill(0xff);
    kernel.release(mark);
    assert.deepEqual(multiply(kernel, keyOf(entries, rows, variables), witness), expected(entries, rows, witness));
  });

  it("distinguish values of which the file has the same low word", async () => {
    // Their representations in the file are 7, 7 + 2^32 and 7 + 2^192: one slot of the hash table.
    const unscaled = (stored: bigint): bigint => {
      let value = stored;
      for (let bit = 0; bit < 512; bit++) value = (value * ((r + 1n) / 2n)) % r;
      return value;
    };
    const values = [7n, 7n + (1n << 32n), 7n + (1n << 192n)].map(unscaled);
    const entries = [...values, ...values].map(
      (value, index): Entry => ({ matrix: index % 2, row: index, variable: 3, value }),
    );
    const witness = Array.from({ length: variables }, () => randomBelow(r));
    const found = multiply(await newKernel(), keyOf(entries, rows, variables), witness);
    assert.deepEqual(found, expected(entries, rows, witness));
  });

  it("multiply a witness if all values collide, and search for none of them for long", async () => {
    // In the file, the low words are the same, so that all values have the same first slot.
    const unscale = ((r + 1n) / 2n) ** 512n % r;
    const values = Array.from({ length: 400 }, (_, index) => (((BigInt(index) << 32n) + 7n) * unscale) % r);
    const entries = [...values, ...values].map(
      (value, index): Entry => ({ matrix: index % 2, row: index % rows, variable: index % variables, value }),
    );
    const witness = Array.from({ length: variables }, () => randomBelow(r));
    const kernel = await newKernel();
    const key = keyOf(entries, rows, variables);
    assert.deepEqual(multiply(kernel, key, witness), expected(entries, rows, witness));
    const [chunk, slots, raw, indexed] = [key.coefficients.byteLength, 4 * 1024, 800 * 32, 800 * 12].map((bytes) =>
      kernel.allocate(bytes),
    ) as [number, number, number, number];
    kernel.bytes(chunk, key.coefficients.byteLength).set(key.coefficients);
    kernel.bytes(slots, 4 * 1024).fill(0);
    const end = chunk + key.coefficients.byteLength;
    const distinct = kernel.call("index", chunk, end, rows, slots, 1023, raw, 0, indexed);
    assert.isAbove(distinct, values.length, "a value that is not found at once is stored again");
  });

  it("are refused if a value is not below the field's order", async () => {
    const key = keyOf([{ matrix: 0, row: 0, variable: 0, value: 1n }], rows, variables);
    const kernel = await newKernel();
    loadMatrices(kernel, key);
    for (const value of [r, r + 1n, 2n ** 256n - 1n]) {
      writeScalar(new DataView(key.coefficients.buffer), 12, value);
      await expectRejected("PROVING_KEY_INVALID", () => loadMatrices(kernel, key));
    }
  });

  it("multiply a witness if there are more coefficients than one copy takes, and more values than are found again", async () => {
    const values = Array.from({ length: 3_000 }, () => randomBelow(r));
    const entries = [...values, ...values].map(
      (value, index): Entry => ({ matrix: index % 2, row: index % rows, variable: index % variables, value }),
    );
    const witness = Array.from({ length: variables }, () => randomBelow(r));
    const found = multiply(await newKernel(), keyOf(entries, rows, variables), witness);
    assert.deepEqual(found, expected(entries, rows, witness));
  });

  it("work for a circuit without coefficients", async () => {
    const zero = Array.from({ length: rows }, () => [0n, 0n]);
    assert.deepEqual(
      multiply(await newKernel(), keyOf([], rows, variables), new Array<bigint>(variables).fill(5n)),
      zero as never,
    );
  });

  it("are refused if a coefficient's matrix, row or variable does not exist", async () => {
    const kernel = await newKernel();
    const entry = { matrix: 1, row: rows - 1, variable: variables - 1, value: 1n };
    loadMatrices(kernel, keyOf([entry], rows, variables));
    for (const change of [{ matrix: 2 }, { row: rows }, { variable: variables }, { variable: 0xffffffff }]) {
      const key = keyOf([entry, { ...entry, ...change }, entry], rows, variables);
      await expectRejected("PROVING_KEY_INVALID", () => loadMatrices(kernel, key));
    }
  });
});
