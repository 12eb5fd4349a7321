import { buildBn128 } from "ffjavascript";
import type { CurveModule } from "./wasm-curve.ts";

/**
 * The wasm code for wasm-curve.ts. Apart from it, because a worker thread cannot import ffjavascript: its web-worker
 * dependency takes any such thread for one of its own.
 */
export async function compileCurve(): Promise<CurveModule> {
  const { tm } = await buildBn128(true);
  return { module: await WebAssembly.compile(tm.code), generators: { g1: tm.pG1gen, g2: tm.pG2gen } };
}
