import { FIELD_MODULUS } from "../field.ts";
import { type FieldEngine, fieldEngine } from "../wasm/engine.ts";
import { ELEMENT } from "../wasm/limb-code.ts";

const P = FIELD_MODULUS;

/** The u-coordinates of h P and (h + 1) P as fractions U / W; W = 0 is the identity. */
export type Rungs = readonly [u0: bigint, w0: bigint, u1: bigint, w1: bigint];

/** A Montgomery curve v^2 = u^3 + A u^2 + u (any twist: v is not used) and a point on it. */
export interface LadderBase {
  /** u of the point; not 0. */
  readonly u: bigint;
  /** (A + 2) / 4. */
  readonly a24: bigint;
}

/**
 * Montgomery's ladder (1987) with bigints. Every bit takes the same operations, but the time of a bigint operation
 * varies.
 */
export function climbWithBigInts({ u, a24 }: LadderBase, bits: string): Rungs {
  let [u0, w0, u1, w1] = [1n, 0n, u, 1n];
  for (const bit of bits) {
    // [u0, w0] becomes its double, [u1, w1] the sum of both.
    if (bit === "1") [u0, w0, u1, w1] = [u1, w1, u0, w0];
    const [sum, difference] = [u0 + w0, u0 - w0];
    const cross0 = (u1 - w1) * sum;
    const cross1 = (u1 + w1) * difference;
    const square0 = (sum * sum) % P;
    const square1 = (difference * difference) % P;
    const gap = square0 - square1;
    u0 = (square0 * square1) % P;
    w0 = (gap * ((square1 + a24 * gap) % P)) % P;
    const plus = (cross0 + cross1) % P;
    const minus = (cross0 - cross1) % P;
    u1 = (plus * plus) % P;
    w1 = (((minus * minus) % P) * u) % P;
    if (bit === "1") [u0, w0, u1, w1] = [u1, w1, u0, w0];
  }
  return [u0, w0, u1, w1];
}

/** For each engine, the address of scratch memory for two points and two constants. */
const operands = new WeakMap<FieldEngine, number>();

/** `climbWithBigInts` in WebAssembly. */
export function climbWithWasm(engine: FieldEngine, { u, a24 }: LadderBase, bits: string): Rungs {
  const low = operands.get(engine) ?? engine.allocate(6);
  operands.set(engine, low);
  const [high, base, constant] = [low + 2 * ELEMENT, low + 4 * ELEMENT, low + 5 * ELEMENT];
  const { ladderStep } = engine.program;
  engine.write(low, [1n, 0n, u, 1n, u, a24]);
  for (let i = 0; i < bits.length; i++) {
    if (bits[i] === "1") ladderStep(high, low, base, constant);
    else ladderStep(low, high, base, constant);
  }
  return [engine.read(low), engine.read(low + ELEMENT), engine.read(high), engine.read(high + ELEMENT)];
}

/** Computes h P and (h + 1) P from the `bits` of h, highest first. */
export function climb(base: LadderBase, bits: string): Rungs {
  const engine = fieldEngine();
  return engine === null ? climbWithBigInts(base, bits) : climbWithWasm(engine, base, bits);
}
