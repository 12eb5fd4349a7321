/** Makes kernels from their code in TypeScript. */
import { ModuleBuilder } from "./assembler.ts";
import { ConstantPool } from "./constants.ts";
import { compileCode, type KernelCode, type Program } from "./kernel.ts";
import { FieldEmitter } from "./multiply.ts";

/** Defines the functions of a kernel, with an emitter of field arithmetic. */
export type Write = (module: ModuleBuilder, field: FieldEmitter) => void;

export function assembleKernel(modulus: bigint, write: Write): KernelCode {
  const pool = new ConstantPool();
  const builder = new ModuleBuilder();
  write(builder, new FieldEmitter(modulus, pool));
  return { modulus, bytes: builder.build(), constants: pool.bytes() };
}

/** Compiles a kernel. @param modulus one of the two orders of BN254: the bounds of the arithmetic hold for them */
export function compileKernel(modulus: bigint, write: Write): Program {
  return compileCode(assembleKernel(modulus, write));
}
