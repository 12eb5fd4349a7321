/**
 * The kernel that computes the points of compact keys. It is a module of its own, which only programs with such a key load. In a
 * built package, build.ts replaces it, like src/fast/kernels.ts.
 */
import { assembleRootKernel } from "./compact/root-kernel.ts";
import type { KernelCode } from "./fast/kernel.ts";
import { BASE_FIELD_ORDER } from "./proof/orders.ts";

/** The kernel over the base field. */
export async function rootCode(): Promise<KernelCode> {
  return assembleRootKernel(BASE_FIELD_ORDER);
}
