/** circom finds input signals by the 64-bit FNV-1a hash of their names. */
const OFFSET_BASIS = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;

/** The hash as two unsigned 32-bit halves, most significant first. */
export function signalHash(name: string): [msb: number, lsb: number] {
  let hash = OFFSET_BASIS;
  for (const byte of new TextEncoder().encode(name)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * PRIME);
  return [Number(hash >> 32n), Number(hash & 0xffffffffn)];
}
