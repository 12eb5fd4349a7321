/**
 * A WebAssembly assembler with only the features that the fast engine needs. The kernels are generated for a modulus when the
 * package is built, or when the engine starts from source: generator code can be read and tested, while a binary in the
 * repository would have to be trusted.
 */

import { encodeModule, text, unsigned, vector } from "./encoding.ts";

/** Instructions of one expression, nested so that composing them needs no copying. */
export type Code = readonly (number | Code)[];
/** Types of parameters, locals and results. */
export type ValueType = "i32" | "i64" | "v128";

const VALUE_TYPES: Readonly<Record<ValueType, number>> = { i32: 0x7f, i64: 0x7e, v128: 0x7b };

/** A parameter or local of a function. */
export interface Local {
  /** The code that puts its value on the stack. */
  readonly get: Code;
  /** The code that stores a value in it. */
  set(value: Code): Code;
}

/** Allocates a function's parameters and locals. */
export class FunctionBuilder {
  readonly #types: ValueType[] = [];
  /** In the order of their types. */
  readonly params: readonly Local[];
  readonly #count: number;

  constructor(params: readonly ValueType[]) {
    this.#count = params.length;
    this.params = params.map((_, index) => local(index));
  }

  /** Allocates a local. */
  local(type: ValueType): Local {
    this.#types.push(type);
    return local(this.#count + this.#types.length - 1);
  }

  /** Allocates several locals of one type. */
  locals(type: ValueType, count: number): Local[] {
    return Array.from({ length: count }, () => this.local(type));
  }

  /** Encodes the function: its locals, then `code`. */
  body(code: Code): Uint8Array {
    const bytes = [...unsigned(this.#types.length), ...this.#types.flatMap((type) => [1, VALUE_TYPES[type]])];
    flatten(code, bytes);
    bytes.push(0x0b);
    const size = unsigned(bytes.length);
    const body = new Uint8Array(size.length + bytes.length);
    body.set(size);
    body.set(bytes, size.length);
    return body;
  }
}

function local(index: number): Local {
  return { get: [0x20, ...unsigned(index)], set: (value) => [value, 0x21, ...unsigned(index)] };
}

interface Entry {
  readonly name: string;
  readonly params: readonly ValueType[];
  readonly results: readonly ValueType[];
  readonly body: Uint8Array;
}

interface Import {
  readonly module: string;
  readonly name: string;
  readonly params: readonly ValueType[];
  readonly results: readonly ValueType[];
}

/** A module whose memory is imported as env.memory. All functions that it defines are exported. */
export class ModuleBuilder {
  readonly #imports: Import[] = [];
  readonly #functions: Entry[] = [];

  /** Imports a function, before any is defined. @returns as `define` */
  import(
    module: string,
    name: string,
    params: readonly ValueType[],
    results: readonly ValueType[] = [],
  ): (...args: Code[]) => Code {
    const index = this.#imports.length;
    this.#imports.push({ module, name, params, results });
    return (...args) => [...args, 0x10, ...unsigned(index)];
  }

  /**
   * Defines a function.
   * @returns a function that makes the code of a call: the arguments, then the call instruction
   */
  define(
    name: string,
    params: readonly ValueType[],
    write: (f: FunctionBuilder) => Code,
    results: readonly ValueType[] = [],
  ): (...args: Code[]) => Code {
    const builder = new FunctionBuilder(params);
    // First the body, because `write` may define functions that it calls.
    const body = builder.body(write(builder));
    const index = this.#imports.length + this.#functions.length;
    this.#functions.push({ name, params, results, body });
    return (...args) => [...args, 0x10, ...unsigned(index)];
  }

  /** Encodes the module. */
  build(): Uint8Array<ArrayBuffer> {
    const [imports, functions] = [this.#imports, this.#functions];
    const types = [...imports, ...functions].map(({ params, results }) => [
      0x60,
      ...vector(params.map((type) => [VALUE_TYPES[type]])),
      ...vector(results.map((type) => [VALUE_TYPES[type]])),
    ]);
    // Limits: minimum 0 pages, no maximum. The imported memory has its own limits.
    const memory = [...text("env"), ...text("memory"), 0x02, 0x00, 0x00];
    const imported = imports.map(({ module, name }, index) => [
      ...text(module),
      ...text(name),
      0x00,
      ...unsigned(index),
    ]);
    const indices = functions.map((_, index) => imports.length + index);
    const exports = functions.map(({ name }, index) => [...text(name), 0x00, ...unsigned(indices[index] as number)]);
    return encodeModule({
      types,
      imports: [memory, ...imported],
      functions: indices,
      exports,
      bodies: functions.map(({ body }) => body),
    });
  }
}

/** Uses an index, because this code runs 10^5 times before the engine optimizes it, and an iterator is slower until then. */
function flatten(code: Code, into: number[]): void {
  for (let index = 0; index < code.length; index++) {
    const part = code[index] as Code | number;
    if (typeof part === "number") into.push(part);
    else flatten(part, into);
  }
}
