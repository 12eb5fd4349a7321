/**
 * BN254 (mcl calls it BN_SNARK1) through mcl's raw functions on WebAssembly memory, because mcl's classes copy every operand.
 * The raw functions check nothing, so callers must check every point first.
 */
import createModule from "mcl-wasm/dist/mcl_c.js";

/** An address in mcl's memory. */
export type Pointer = number;

type Unary = (out: Pointer, x: Pointer) => void;
type Binary = (out: Pointer, x: Pointer, y: Pointer) => void;

/** The functions that the engine uses. `out` must not overlap an operand unless the comment says so. */
export interface Mcl {
  readonly wasmMemory: { readonly buffer: ArrayBuffer };
  _malloc(bytes: number): Pointer;
  _free(pointer: Pointer): void;
  _mclBn_init(curve: number, compiled: number): number;
  _mclBnFr_setLittleEndian(out: Pointer, bytes: Pointer, length: number): number;
  _mclBnFp_setLittleEndian(out: Pointer, bytes: Pointer, length: number): number;
  _mclBnFp_neg: Unary;
  _mclBnFp2_mul: Binary;
  _mclBnG1_neg: Unary;
  _mclBnG1_clear(out: Pointer): void;
  _mclBnG1_add: Binary;
  /** `out` and `x` may be the same. */
  _mclBnG1_normalizeVec(out: Pointer, x: Pointer, count: number): void;
  /** In place: x[i] = y[i]·x[i]. */
  _mclBnG1_mulEach(x: Pointer, y: Pointer, count: number): void;
  /** May normalize the points `x` in place. */
  _mclBnG1_mulVec(out: Pointer, x: Pointer, y: Pointer, count: number): void;
  _mclBnG2_neg: Unary;
  _mclBnG2_dbl: Unary;
  _mclBnG2_add: Binary;
  _mclBnG2_isEqual(x: Pointer, y: Pointer): number;
  _mclBnGT_mul: Binary;
  _mclBnGT_isEqual(x: Pointer, y: Pointer): number;
  _mclBnGT_isOne(x: Pointer): number;
  _mclBn_getUint64NumToPrecompute(): number;
  _mclBn_precomputeG2(out: Pointer, point: Pointer): void;
  _mclBn_millerLoop: Binary;
  _mclBn_millerLoopVec(out: Pointer, g1: Pointer, g2: Pointer, count: number): void;
  _mclBn_precomputedMillerLoop(out: Pointer, g1: Pointer, lines: Pointer): void;
  _mclBn_precomputedMillerLoop2(out: Pointer, g1: Pointer, lines: Pointer, g1b: Pointer, linesB: Pointer): void;
  _mclBn_finalExp: Unary;
}

const BN_SNARK1 = 4;
/** Build parameter that _mclBn_init compares: scalars of 4 words, coordinates of 6. */
const COMPILED_FOR = 46;

/** Bytes. Coordinates of this build have room for 384 bits. */
export const SIZE = { fr: 32, fp: 48, fp2: 96, g1: 144, g2: 288, gt: 576 } as const;
const WORD = 64n;
const BYTES = 32;

export class Curve {
  readonly mcl: Mcl;
  readonly #bytes: Pointer;

  private constructor(mcl: Mcl) {
    this.mcl = mcl;
    this.#bytes = mcl._malloc(BYTES);
  }

  /** @throws Error if the binary was built with other parameters */
  static async load(): Promise<Curve> {
    // The engine draws its weights itself: mcl needs no randomness.
    const cryptoGetRandomValues = (): never => {
      throw new Error("mcl requested randomness, which this engine does not provide");
    };
    const mcl: Mcl = await createModule({ cryptoGetRandomValues });
    const code = mcl._mclBn_init(BN_SNARK1, COMPILED_FOR);
    if (code !== 0) throw new Error(`mcl cannot be initialized: error ${code}`);
    return new Curve(mcl);
  }

  alloc(bytes: number): Pointer {
    const pointer = this.mcl._malloc(bytes);
    if (pointer === 0) throw new Error(`no memory for ${bytes} bytes`);
    return pointer;
  }

  copy(to: Pointer, from: Pointer, bytes: number): void {
    new Uint8Array(this.mcl.wasmMemory.buffer).copyWithin(to, from, from + bytes);
  }

  /** @param value from 0 to r - 1 */
  writeFr(to: Pointer, value: bigint): void {
    this.#put(value);
    if (this.mcl._mclBnFr_setLittleEndian(to, this.#bytes, BYTES) !== 0) throw new Error("mcl refused a scalar");
  }

  /** @param value from 0 to q - 1 */
  writeFp(to: Pointer, value: bigint): void {
    this.#put(value);
    if (this.mcl._mclBnFp_setLittleEndian(to, this.#bytes, BYTES) !== 0) throw new Error("mcl refused a coordinate");
  }

  writeFp2(to: Pointer, [c0, c1]: readonly [bigint, bigint]): void {
    this.writeFp(to, c0);
    this.writeFp(to + SIZE.fp, c1);
  }

  writeG1(to: Pointer, [x, y]: readonly [bigint, bigint]): void {
    this.writeFp(to, x);
    this.writeFp(to + SIZE.fp, y);
    this.writeFp(to + 2 * SIZE.fp, 1n);
  }

  writeG2(to: Pointer, [x, y]: readonly [readonly [bigint, bigint], readonly [bigint, bigint]]): void {
    this.writeFp2(to, x);
    this.writeFp2(to + SIZE.fp2, y);
    this.writeFp2(to + 2 * SIZE.fp2, [1n, 0n]);
  }

  #put(value: bigint): void {
    const view = new DataView(this.mcl.wasmMemory.buffer, this.#bytes, BYTES);
    for (let word = 0; word < 4; word++)
      view.setBigUint64(8 * word, BigInt.asUintN(64, value >> (WORD * BigInt(word))), true);
  }
}
