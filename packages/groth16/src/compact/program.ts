/** The kernel of roots, compiled once for all threads. */
import { compileCode, type Program } from "../fast/kernel.ts";
import { assertSupported } from "../fast/programs.ts";
import { hasFusedMultiplyAdd } from "../fast/support.ts";

let compiling: Promise<Program> | undefined;

/** @throws Groth16Error ENGINE_UNSUPPORTED without WebAssembly's SIMD */
export function compileRoots(): Promise<Program> {
  if (compiling === undefined) {
    compiling = compile(hasFusedMultiplyAdd());
    // The next call tries again: a page downloads the kernel.
    compiling.catch(() => {
      compiling = undefined;
    });
  }
  return compiling;
}

async function compile(isFused: boolean): Promise<Program> {
  assertSupported(isFused);
  const { rootCode } = isFused ? await import("../root-kernels.ts") : await import("../plain-kernels.ts");
  return compileCode(await rootCode());
}
