/**
 * The code of the kernels that prove. This module assembles it, which takes as long as a third of a proof in a fresh process.
 * In a built package, build-kernels.ts replaces it with a module that has the same exports and the assembled bytes.
 */
import { BASE_FIELD_ORDER, SCALAR_FIELD_ORDER } from "../proof/orders.ts";
import { assembleCurveKernel } from "./curve-kernel.ts";
import type { KernelCode } from "./kernel.ts";
import { assembleScalarKernel } from "./scalar-kernel.ts";

/** The kernel over the base field. */
export async function curveCode(): Promise<KernelCode> {
  return assembleCurveKernel(BASE_FIELD_ORDER);
}

/** The kernel over the scalar field. */
export async function scalarCode(): Promise<KernelCode> {
  return assembleScalarKernel(SCALAR_FIELD_ORDER);
}
