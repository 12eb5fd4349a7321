/** Checks whether this machine can run the kernels. */
import { probeCode, simdProbeCode } from "./kernels.ts";

let supported: boolean | undefined;

/**
 * With relaxed SIMD, the machine decides whether a·b + c is rounded once or twice; the kernels require a single
 * rounding. The choice does not change within a program (relaxed SIMD proposal, "consistency"), so one check is enough.
 */
export function hasFusedMultiplyAdd(): boolean {
  supported ??= probe();
  return supported;
}

/** Whether the runtime has SIMD in WebAssembly, which all kernels need. */
export function hasSimd(): boolean {
  return WebAssembly.validate(simdProbeCode());
}

function probe(): boolean {
  const bytes = probeCode();
  if (!WebAssembly.validate(bytes)) return false;
  const memory = new WebAssembly.Memory({ initial: 1 });
  const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } });
  const doubles = new Float64Array(memory.buffer, 0, 8);
  // (2^51 - 1)^2 - 2^102 = 1 - 2^52. If the square were rounded first, only -2^52 would remain.
  doubles.set([2 ** 51 - 1, 2 ** 51 - 1, 2 ** 51 - 1, 2 ** 51 - 1, -(2 ** 102), -(2 ** 102)], 2);
  (instance.exports["probe"] as () => void)();
  return doubles[0] === 1 - 2 ** 52 && doubles[1] === 1 - 2 ** 52;
}
