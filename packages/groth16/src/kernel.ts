// `@sotto/groth16/kernel`: the parts from which the kernels of proofs are built, for programs that build kernels of other
// functions over a prime field. It does not load the rest of the package.
export { compileKernel, type Write } from "./fast/assemble-kernel.ts";
export type { Code, FunctionBuilder, Local, ModuleBuilder, ValueType } from "./fast/assembler.ts";
export { type ConstantPool, PAIR_BYTES } from "./fast/constants.ts";
export { defineField, type FieldFunctions, pairAt, toWords } from "./fast/field-functions.ts";
export { f64x2, i32, i64x2, increase, loop, v128 } from "./fast/instructions.ts";
export { Kernel, type Program } from "./fast/kernel.ts";
export { bitsOf, fromLimbs, LIMBS, MONTGOMERY_BITS, RADIX_BITS, toLimbs } from "./fast/limbs.ts";
export type { FieldEmitter } from "./fast/multiply.ts";
export type { Addend, Operand, Product, Reduction } from "./fast/operands.ts";
export { hasFusedMultiplyAdd } from "./fast/support.ts";
