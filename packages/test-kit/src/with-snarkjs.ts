import * as snarkjs from "snarkjs";

interface Curve {
  terminate(): Promise<void>;
}

/** The part of snarkjs that its types do not declare. */
interface WithCurves {
  readonly curves: { getCurveFromName(name: string): Promise<Curve> };
}

/** Runs an action that uses snarkjs, and ends its threads afterwards: idle ones keep the process alive. */
export async function withSnarkjs<T>(run: (curve: Curve) => Promise<T>): Promise<T> {
  const curve = await (snarkjs as unknown as WithCurves).curves.getCurveFromName("bn128");
  try {
    return await run(curve);
  } finally {
    await curve.terminate();
  }
}
