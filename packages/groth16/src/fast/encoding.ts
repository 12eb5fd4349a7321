// The binary format of WebAssembly modules, as far as the kernels need it. @sotto/protocol has its own copy of this encoder
// (src/wasm/encoding.ts), because neither package imports the other: correct both.

/** Encodes an unsigned integer as LEB128. */
export function unsigned(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return [...bytes, rest];
}

/** Encodes a signed integer as LEB128. */
export function signed(value: bigint): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; ) {
    const low = Number(rest & 127n);
    rest >>= 7n;
    if ((rest === 0n && low < 64) || (rest === -1n && low >= 64)) return [...bytes, low];
    bytes.push(low | 128);
  }
}

/** Encodes a vector: the number of items, then the items. */
export const vector = (items: readonly (readonly number[])[]): number[] => [...unsigned(items.length), ...items.flat()];

/** Encodes an ASCII name. */
export const text = (name: string): number[] => [
  ...unsigned(name.length),
  ...[...name].map((letter) => letter.charCodeAt(0)),
];

const section = (id: number, content: readonly number[]): number[] => [id, ...unsigned(content.length), ...content];

/** The contents of a module's sections by section id, as the specification numbers them. */
export interface ModuleSections {
  /** Section 1: the encoded type of functions. */
  readonly types: readonly (readonly number[])[];
  /** Section 2: encoded imports. */
  readonly imports: readonly (readonly number[])[];
  /** Section 3: for each function, the index of its type in `types`. */
  readonly functions: readonly number[];
  /** Section 7: encoded exports. */
  readonly exports: readonly (readonly number[])[];
  /** Section 10: the encoded code of each function, in the order of `functions`, each with its size. */
  readonly bodies: readonly ArrayLike<number>[];
}

/** Encodes a module of WebAssembly 1.0. */
export function encodeModule({ types, imports, functions, exports, bodies }: ModuleSections) {
  const count = unsigned(bodies.length);
  const size = bodies.reduce((sum, body) => sum + body.length, count.length);
  const start = [
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, vector(types)),
    ...section(2, vector(imports)),
    ...section(3, vector(functions.map(unsigned))),
    ...section(7, vector(exports)),
    ...[10, ...unsigned(size), ...count],
  ];
  // The bodies are large, so they are not spread into arrays.
  const module = new Uint8Array(start.length + size - count.length);
  module.set(start);
  let offset = start.length;
  for (const body of bodies) {
    module.set(body, offset);
    offset += body.length;
  }
  return module;
}
