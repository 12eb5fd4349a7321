import type { Curve } from "ffjavascript";
import type { CurveModule } from "./wasm-curve.ts";

/**
 * The wasm code of a curve, for wasm-curve.ts. It has its own file, because a worker thread cannot import ffjavascript,
 * whose web-worker dependency mistakes every worker thread for one of its own.
 * @param curve from `buildBn128(true)`; a curve with threads does not keep its code
 */
export async function compileCurve({ tm }: Curve): Promise<CurveModule> {
  return { module: await WebAssembly.compile(tm.code), generators: { g1: tm.pG1gen, g2: tm.pG2gen } };
}
