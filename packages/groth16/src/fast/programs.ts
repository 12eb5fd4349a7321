/** The kernels that prove, compiled once for all threads. */
import { compileCode, type Program } from "./kernel.ts";
import { curveCode, scalarCode } from "./kernels.ts";

export interface Programs {
  /** The kernel over the base field. */
  readonly curve: Program;
  /** The kernel over the scalar field. */
  readonly scalar: Program;
}

let compiling: Promise<Programs> | undefined;

export function compilePrograms(): Promise<Programs> {
  compiling ??= Promise.all([curveCode(), scalarCode()]).then(([curve, scalar]) => ({
    curve: compileCode(curve),
    scalar: compileCode(scalar),
  }));
  return compiling;
}
