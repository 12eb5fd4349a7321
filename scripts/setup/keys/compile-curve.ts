import type { Curve } from "ffjavascript";
import type { CurveModule } from "./wasm-curve.ts";

/**
 * The wasm code of a curve, for wasm-curve.ts. Apart from it, because a worker thread cannot import ffjavascript: its
 * web-worker dependency takes any such thread for one of its own.
 * @param curve made by `buildBn128(true)`: with threads it does not keep its code
 */
export async function compileCurve({ tm }: Curve): Promise<CurveModule> {
  return { module: await WebAssembly.compile(tm.code), generators: { g1: tm.pG1gen, g2: tm.pG2gen } };
}
