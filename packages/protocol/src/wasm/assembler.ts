import { encodeModule, signed, text, unsigned, vector } from "./encoding.ts";

/** The bytes of a WebAssembly code fragment. */
export type Code = readonly number[];

/** The instructions used here, by their names in the specification (WebAssembly 1.0; all memory is 8-byte aligned). */
export const op = {
  get: (local: number): Code => [0x20, ...unsigned(local)],
  set: (local: number): Code => [0x21, ...unsigned(local)],
  call: (index: number): Code => [0x10, ...unsigned(index)],
  const32: (value: number): Code => [0x41, ...signed(BigInt(value))],
  const64: (value: bigint): Code => [0x42, ...signed(value)],
  load: (offset: number): Code => [0x29, 3, ...unsigned(offset)],
  store: (offset: number): Code => [0x37, 3, ...unsigned(offset)],
  add32: [0x6a] as Code,
  sub32: [0x6b] as Code,
  and32: [0x71] as Code,
  shr32: [0x76] as Code,
  add: [0x7c] as Code,
  sub: [0x7d] as Code,
  mul: [0x7e] as Code,
  and: [0x83] as Code,
  or: [0x84] as Code,
  shl: [0x86] as Code,
  /** Arithmetic shift right. */
  shr: [0x87] as Code,
  /** Logical shift right. */
  shrUnsigned: [0x88] as Code,
};

/** Runs `body`, and repeats it while `condition` leaves an i32 other than 0. */
export function repeat(body: Code, condition: Code): Code {
  return [0x03, 0x40, ...body, ...condition, 0x0d, 0, 0x0b];
}

/** Runs `then` if `condition` leaves an i32 other than 0, otherwise `otherwise`. */
export function branch(condition: Code, then: Code, otherwise: Code = []): Code {
  return [...condition, 0x04, 0x40, ...then, 0x05, ...otherwise, 0x0b];
}

/** A function without results. Its locals are the parameters (i32), then the i32 locals, then the i64 locals. */
export interface FunctionCode {
  readonly name: string;
  readonly parameters: number;
  readonly locals32?: number;
  readonly locals64?: number;
  readonly code: Code;
}

const I32 = 0x7f;
const I64 = 0x7e;

/** A module with one exported memory ("memory") and the given functions, each exported under its name. */
export function assemble(functions: readonly FunctionCode[], pages: number): Uint8Array {
  const types = functions.map(({ parameters }) => [0x60, ...vector(new Array(parameters).fill([I32])), 0]);
  const bodies = functions.map(({ code, locals32 = 0, locals64 = 0 }) => {
    const locals = vector([
      [...unsigned(locals32), I32],
      [...unsigned(locals64), I64],
    ]);
    const body = [...locals, ...code, 0x0b];
    return [...unsigned(body.length), ...body];
  });
  const exports = functions.map(({ name }, index) => [...text(name), 0, ...unsigned(index)]);
  return encodeModule({
    types,
    functions: functions.map((_, index) => index),
    memories: [[0, ...unsigned(pages)]],
    exports: [[...text("memory"), 2, 0], ...exports],
    bodies,
  });
}
