import * as snarkjs from "snarkjs";

/** The part of snarkjs that its types do not declare. */
interface WithCurves {
  readonly curves: { getCurveFromName(name: string): Promise<{ terminate(): Promise<void> }> };
}

/** Runs an action that uses snarkjs, and ends its threads afterwards: idle ones keep the process alive. */
export async function withSnarkjs<T>(run: () => Promise<T>): Promise<T> {
  const curve = await (snarkjs as unknown as WithCurves).curves.getCurveFromName("bn128");
  try {
    return await run();
  } finally {
    await curve.terminate();
  }
}
