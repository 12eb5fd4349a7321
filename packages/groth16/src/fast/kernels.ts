/**
 * The code of the kernels that prove. This module assembles it, which takes as long as a third of a proof in a fresh process.
 * In a built package, build.ts replaces it with a module that has the same exports and the assembled bytes.
 */
import { BASE_FIELD_ORDER, SCALAR_FIELD_ORDER } from "../proof/orders.ts";
import { ModuleBuilder } from "./assembler.ts";
import { assembleCurveKernel } from "./curve-kernel.ts";
import { f64x2, i32, v128 } from "./instructions.ts";
import type { KernelCode } from "./kernel.ts";
import { assembleScalarKernel } from "./scalar-kernel.ts";
import { assembleWitnessReader } from "./witness-reader.ts";

/** The kernel over the base field. */
export async function curveCode(): Promise<KernelCode> {
  return assembleCurveKernel(BASE_FIELD_ORDER);
}

/** The kernel over the scalar field. */
export async function scalarCode(): Promise<KernelCode> {
  return assembleScalarKernel(SCALAR_FIELD_ORDER);
}

/**
 * A module whose function `read(count)` stores the first `count` elements of a generator's witness from address 0 on, 32 bytes
 * each. It imports the generator's functions from the module `generator`.
 */
export function witnessReaderCode(): Uint8Array<ArrayBuffer> {
  return assembleWitnessReader();
}

/** A module whose function `probe` stores a·b + c, of the vectors at 16, 32 and 48, at 0. */
export function probeCode(): Uint8Array<ArrayBuffer> {
  const module = new ModuleBuilder();
  module.define("probe", [], () => {
    const at = (address: number) => v128.load(i32.const(0), address);
    return v128.store(i32.const(0), f64x2.madd(at(16), at(32), at(48)));
  });
  return module.build();
}

/** A module that is valid if the runtime has SIMD. */
export function simdProbeCode(): Uint8Array<ArrayBuffer> {
  const module = new ModuleBuilder();
  module.define("probe", [], () =>
    v128.store(i32.const(0), f64x2.add(v128.load(i32.const(0)), v128.load(i32.const(0)))),
  );
  return module.build();
}
