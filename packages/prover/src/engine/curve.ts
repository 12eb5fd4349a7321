/**
 * ffjavascript's BN254, as snarkjs hands it out. One single-threaded instance serves the whole process: building one
 * takes a few hundred milliseconds, and only the multi-threaded kind has workers that would keep the process alive.
 */
import * as snarkjs from "snarkjs";

/** A point or field element in the curve's internal form (Montgomery, little-endian). */
export type Raw = Uint8Array & { readonly raw?: never };

interface Group {
  fromObject(point: readonly (bigint | readonly bigint[])[]): Raw;
  toObject<T>(point: Raw): T;
  toAffine(point: Raw): Raw;
  toJacobian(point: Raw): Raw;
  add(left: Raw, right: Raw): Raw;
  double(point: Raw): Raw;
  neg(point: Raw): Raw;
  timesScalar(point: Raw, scalar: bigint): Raw;
  readonly zero: Raw;
}

export interface Curve {
  readonly G1: Group;
  readonly G2: Group;
  readonly Gt: { mul(left: Raw, right: Raw): Raw; eq(left: Raw, right: Raw): boolean };
  pairing(a: Raw, b: Raw): Raw;
  prepareG1(point: Raw): Raw;
  prepareG2(point: Raw): Raw;
  millerLoop(a: Raw, b: Raw): Raw;
  finalExponentiation(value: Raw): Raw;
  terminate(): Promise<void>;
}

/** What @types/snarkjs leaves out. */
interface WithCurves {
  readonly curves: { getCurveFromName(name: string, options: { singleThread: boolean }): Promise<Curve> };
}

const { curves } = snarkjs as unknown as WithCurves;
let shared: Promise<Curve> | undefined;
let threaded: Promise<Curve> | undefined;
let users = 0;

/** The process's single-threaded curve. Its calls are synchronous. */
export function sharedCurve(): Promise<Curve> {
  shared ??= curves.getCurveFromName("bn128", { singleThread: true });
  return shared;
}

/**
 * Runs what uses snarkjs's multi-threaded curve, and ends its workers when nobody needs them any more: idle ones would
 * keep the process alive for ever. snarkjs keeps that curve in a global, and two calls at a time that find none would
 * each build one, of which one is lost with its workers; so it is built here, once.
 */
export async function withWorkers<T>(run: () => Promise<T>): Promise<T> {
  users++;
  threaded ??= curves.getCurveFromName("bn128", { singleThread: false });
  const curve = await threaded;
  try {
    return await run();
  } finally {
    users--;
    if (users === 0) {
      threaded = undefined;
      await curve.terminate();
    }
  }
}
