/**
 * The same kernels for machines and runtimes without fused multiply-add or relaxed SIMD: WebAssembly's SIMD is enough. They are a
 * module of their own, which only such machines load. In a built package, build.ts replaces it, like src/fast/kernels.ts.
 */
import { assembleRootKernel } from "./compact/root-kernel.ts";
import { assembleCurveKernel } from "./fast/curve-kernel.ts";
import { exactProducts } from "./fast/exact-products.ts";
import type { KernelCode } from "./fast/kernel.ts";
import { assembleScalarKernel } from "./fast/scalar-kernel.ts";
import { BASE_FIELD_ORDER, SCALAR_FIELD_ORDER } from "./proof/orders.ts";

/** The kernel over the base field. */
export async function curveCode(): Promise<KernelCode> {
  return assembleCurveKernel(BASE_FIELD_ORDER, exactProducts);
}

/** The kernel over the scalar field. */
export async function scalarCode(): Promise<KernelCode> {
  return assembleScalarKernel(SCALAR_FIELD_ORDER, exactProducts);
}

/** The kernel that computes the points of compact keys. */
export async function rootCode(): Promise<KernelCode> {
  return assembleRootKernel(BASE_FIELD_ORDER, exactProducts);
}
