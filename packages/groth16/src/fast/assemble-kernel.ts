/** Makes kernels from their code in TypeScript. */
import { ModuleBuilder } from "./assembler.ts";
import { ConstantPool } from "./constants.ts";
import { compileCode, type KernelCode, type Program } from "./kernel.ts";
import type { MakeProducts } from "./limb-products.ts";
import { FieldEmitter } from "./multiply.ts";

/** Defines the functions of a kernel, with an emitter of field arithmetic. */
export type Write = (module: ModuleBuilder, field: FieldEmitter) => void;

/** @param makeProducts how products of limbs are computed. Default: by fused multiply-add */
export function assembleKernel(modulus: bigint, write: Write, makeProducts?: MakeProducts): KernelCode {
  const pool = new ConstantPool();
  const builder = new ModuleBuilder();
  write(builder, new FieldEmitter(modulus, pool, makeProducts));
  return { modulus, bytes: builder.build(), constants: pool.bytes() };
}

/**
 * Compiles a kernel.
 * @param modulus one of the two orders of BN254: the bounds of the arithmetic hold for them
 * @param makeProducts how products of limbs are computed. Default: by fused multiply-add
 */
export function compileKernel(modulus: bigint, write: Write, makeProducts?: MakeProducts): Program {
  return compileCode(assembleKernel(modulus, write, makeProducts));
}
