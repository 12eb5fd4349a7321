/** The WebAssembly instructions the kernels use, as functions of their operands. */

import type { Code, Local } from "./assembler.ts";
import { signed, unsigned } from "./encoding.ts";

const simd = (opcode: number): number[] => [0xfd, ...unsigned(opcode)];
const unary =
  (opcode: number[]) =>
  (a: Code): Code => [a, ...opcode];
const binary =
  (opcode: number[]) =>
  (a: Code, b: Code): Code => [a, b, ...opcode];

/** Instructions on 32-bit integers. */
export const i32 = {
  const: (value: number): Code => [0x41, ...signed(BigInt(value))],
  add: binary([0x6a]),
  sub: binary([0x6b]),
  mul: binary([0x6c]),
  and: binary([0x71]),
  shl: binary([0x74]),
  shrS: binary([0x75]),
  shrU: binary([0x76]),
  xor: binary([0x73]),
  eq: binary([0x46]),
  ltS: binary([0x48]),
  ltU: binary([0x49]),
  gtS: binary([0x4a]),
  geU: binary([0x4f]),
  or: binary([0x72]),
  /** The low half of an i64. */
  wrap: unary([0xa7]),
  load: (address: Code, offset = 0): Code => [address, 0x28, 2, ...unsigned(offset)],
  store: (address: Code, value: Code, offset = 0): Code => [address, value, 0x36, 2, ...unsigned(offset)],
};

/** Instructions on 64-bit integers. */
export const i64 = {
  const: (value: bigint): Code => [0x42, ...signed(BigInt.asIntN(64, value))],
  /** An i32 without its sign. */
  extend: unary([0xad]),
  eq: binary([0x51]),
  add: binary([0x7c]),
  sub: binary([0x7d]),
  mul: binary([0x7e]),
  and: binary([0x83]),
  or: binary([0x84]),
  shl: binary([0x86]),
  shrS: binary([0x87]),
  shrU: binary([0x88]),
  load: (address: Code, offset = 0): Code => [address, 0x29, 3, ...unsigned(offset)],
  /** A 32-bit integer in memory, with its sign. */
  load32S: (address: Code, offset = 0): Code => [address, 0x34, 2, ...unsigned(offset)],
  store: (address: Code, value: Code, offset = 0): Code => [address, value, 0x37, 3, ...unsigned(offset)],
  /** Stores the low half. */
  store32: (address: Code, value: Code, offset = 0): Code => [address, value, 0x3e, 2, ...unsigned(offset)],
};

/** Two lanes of 64 bits. */
export const v128 = {
  load: (address: Code, offset = 0): Code => [address, ...simd(0x00), 4, ...unsigned(offset)],
  store: (address: Code, value: Code, offset = 0): Code => [address, value, ...simd(0x0b), 4, ...unsigned(offset)],
  /** Lane 0 from memory, lane 1 zero. */
  loadLow: (address: Code, offset: number): Code => [address, ...simd(0x5d), 3, ...unsigned(offset)],
  /** Lane 1 of `value` from memory. */
  loadHigh: (address: Code, offset: number, value: Code): Code => [
    address,
    value,
    ...[...simd(0x57), 3, ...unsigned(offset), 1],
  ],
  storeLane: (lane: 0 | 1, address: Code, offset: number, value: Code): Code => [
    address,
    value,
    ...[...simd(0x5b), 3, ...unsigned(offset), lane],
  ],
  and: binary(simd(0x4e)),
  or: binary(simd(0x50)),
  xor: binary(simd(0x51)),
  /** Bits of `a` where the mask has ones, of `b` elsewhere. */
  select: (a: Code, b: Code, mask: Code): Code => [a, b, mask, ...simd(0x52)],
  anyTrue: unary(simd(0x53)),
  /** Swaps the two lanes; `a` is evaluated twice. */
  swap: (a: Code): Code => [a, a, ...simd(0x0d), ...[8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7]],
  /** A double from memory in both lanes. */
  loadSplat: (address: Code, offset: number): Code => [address, ...simd(0x0a), 3, ...unsigned(offset)],
};

/** Two lanes of 64-bit integers. */
export const i64x2 = {
  add: binary(simd(0xce)),
  sub: binary(simd(0xd1)),
  shl: (a: Code, bits: number): Code => [a, i32.const(bits), ...simd(0xcb)],
  shrU: (a: Code, bits: number): Code => [a, i32.const(bits), ...simd(0xcd)],
  ltS: binary(simd(0xd8)),
};

/** Two lanes of doubles. */
export const f64x2 = {
  add: binary(simd(0xf0)),
  sub: binary(simd(0xf1)),
  mul: binary(simd(0xf2)),
  eq: binary(simd(0x47)),
  neg: unary(simd(0xed)),
  /** a·b + c, rounded once if the machine has fused multiply-add, which the engine requires. */
  madd: (a: Code, b: Code, c: Code): Code => [a, b, c, ...simd(0x107)],
};

/** Runs the body while the condition is true. */
export function loop(condition: Code, ...body: Code[]): Code {
  return [0x02, 0x40, 0x03, 0x40, condition, 0x45, 0x0d, 1, ...body, 0x0c, 0, 0x0b, 0x0b];
}

export function when(condition: Code, ...body: Code[]): Code {
  return [condition, 0x04, 0x40, ...body, 0x0b];
}

/** Ends the function, which has no result. */
export const leave: Code = [0x0f];

/** One of two values of the same type; both are evaluated. */
export function either(condition: Code, yes: Code, no: Code): Code {
  return [yes, no, condition, 0x1b];
}

/** local = local + amount */
export function increase(local: Local, amount: number | Code): Code {
  return local.set(i32.add(local.get, typeof amount === "number" ? i32.const(amount) : amount));
}
