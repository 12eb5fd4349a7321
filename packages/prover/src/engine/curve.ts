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

let shared: Promise<Curve> | undefined;

/** The process's single-threaded curve. Its calls are synchronous. */
export function sharedCurve(): Promise<Curve> {
  shared ??= (snarkjs as unknown as WithCurves).curves.getCurveFromName("bn128", { singleThread: true });
  return shared;
}
