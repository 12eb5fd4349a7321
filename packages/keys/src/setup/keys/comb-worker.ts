// One thread of the pool in comb-pool.ts.
import { parentPort, workerData } from "node:worker_threads";
import { FixedBaseComb } from "./comb.ts";
import { type CurveModule, type GroupName, WasmCurve } from "./wasm-curve.ts";

export interface CombTask {
  group: GroupName;
  scalars: Uint8Array<ArrayBuffer>;
  uncompressed: boolean;
}

export interface CombResult {
  points: Uint8Array<ArrayBuffer>;
  uncompressed: Uint8Array<ArrayBuffer> | undefined;
}

const { module, generators } = workerData as CurveModule;
const curve = new WasmCurve(module);
// Built while the main thread is still evaluating the circuit's polynomials.
const combs = {
  g1: new FixedBaseComb(curve, "g1", generators.g1),
  g2: new FixedBaseComb(curve, "g2", generators.g2),
};

parentPort?.on("message", ({ group, scalars, uncompressed }: CombTask) => {
  const points = combs[group].multiply(scalars);
  const result: CombResult = { points, uncompressed: uncompressed ? combs[group].uncompressed(points) : undefined };
  parentPort?.postMessage(result, [points.buffer, ...(result.uncompressed ? [result.uncompressed.buffer] : [])]);
});
