/** Checks whether this machine can run the kernels. */
import { ModuleBuilder } from "./assembler.ts";
import { f64x2, i32, v128 } from "./instructions.ts";

let supported: boolean | undefined;

/**
 * With relaxed SIMD, the machine decides whether a·b + c is rounded once or twice; the kernels require a single
 * rounding. The choice does not change within a program (relaxed SIMD proposal, "consistency"), so one check is enough.
 */
export function hasFusedMultiplyAdd(): boolean {
  supported ??= probe();
  return supported;
}

function probe(): boolean {
  const module = new ModuleBuilder();
  module.define("probe", [], () => {
    const at = (address: number) => v128.load(i32.const(0), address);
    return v128.store(i32.const(0), f64x2.madd(at(16), at(32), at(48)));
  });
  const bytes = module.build();
  if (!WebAssembly.validate(bytes)) return false;
  const memory = new WebAssembly.Memory({ initial: 1 });
  const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } });
  const doubles = new Float64Array(memory.buffer, 0, 8);
  // (2^51 - 1)^2 - 2^102 = 1 - 2^52. If the square were rounded first, only -2^52 would remain.
  doubles.set([2 ** 51 - 1, 2 ** 51 - 1, 2 ** 51 - 1, 2 ** 51 - 1, -(2 ** 102), -(2 ** 102)], 2);
  (instance.exports["probe"] as () => void)();
  return doubles[0] === 1 - 2 ** 52 && doubles[1] === 1 - 2 ** 52;
}
