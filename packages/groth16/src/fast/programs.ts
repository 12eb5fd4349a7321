/** The kernels that prove, compiled once for all threads. */
import { groth16Error } from "../errors.ts";
import { compileCode, type Program } from "./kernel.ts";
import { curveCode, scalarCode } from "./kernels.ts";
import { hasFusedMultiplyAdd, hasSimd } from "./support.ts";

export interface Programs {
  /** The kernel over the base field. */
  readonly curve: Program;
  /** The kernel over the scalar field. */
  readonly scalar: Program;
}

let compiling: Promise<Programs> | undefined;

/** @throws Groth16Error ENGINE_UNSUPPORTED without WebAssembly's SIMD */
export function compilePrograms(): Promise<Programs> {
  if (compiling === undefined) {
    compiling = compile();
    // The next call tries again.
    compiling.catch(() => {
      compiling = undefined;
    });
  }
  return compiling;
}

/** @param isFused whether the kernels use fused multiply-add, which the machine must have; default: if it has it */
export async function compile(isFused = hasFusedMultiplyAdd()): Promise<Programs> {
  assertSupported(isFused);
  // Not the namespace of the module: a page's bundler could not leave it out of what does not prove.
  const codes = isFused ? { curveCode, scalarCode } : await import("../plain-kernels.ts");
  const [curve, scalar] = await Promise.all([codes.curveCode(), codes.scalarCode()]);
  return { curve: compileCode(curve), scalar: compileCode(scalar) };
}

/**
 * @param isFused whether the machine has fused multiply-add
 * @throws Groth16Error ENGINE_UNSUPPORTED without WebAssembly's SIMD
 */
export function assertSupported(isFused: boolean): void {
  if (isFused || hasSimd()) return;
  const message = "This runtime has no SIMD in WebAssembly: prove with a browser that has it, or with Node.";
  throw groth16Error("ENGINE_UNSUPPORTED", message);
}
