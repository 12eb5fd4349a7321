/** The bytes of a proving key: in memory, or in a file that is read in pieces. */

/** Bytes that are not in memory. */
export interface StoredBytes {
  readonly byteLength: number;
  /**
   * Fills an array with the bytes from an offset on; the caller keeps within the length.
   * @throws Groth16Error CIRCUIT_FILE_UNREADABLE also if the bytes have changed since their length was found
   */
  read(into: Uint8Array, offset: number): void;
}

export type KeyBytes = Uint8Array | StoredBytes;

export const areInMemory = (bytes: KeyBytes): bytes is Uint8Array => ArrayBuffer.isView(bytes);

/** Fills an array with the bytes from an offset on. @throws Groth16Error CIRCUIT_FILE_UNREADABLE */
export function readPiece(from: KeyBytes, into: Uint8Array, offset: number): void {
  if (areInMemory(from)) into.set(from.subarray(offset, offset + into.byteLength));
  else from.read(into, offset);
}

/** A part in memory: of bytes in memory a view, of others a copy. @throws Groth16Error CIRCUIT_FILE_UNREADABLE */
export function bytesIn(from: KeyBytes, offset: number, length: number): Uint8Array {
  if (areInMemory(from)) return from.subarray(offset, offset + length);
  const bytes = new Uint8Array(length);
  from.read(bytes, offset);
  return bytes;
}

/** A part that is read when it is needed. */
export function partOf(from: Uint8Array, offset: number, length: number): Uint8Array;
export function partOf(from: KeyBytes, offset: number, length: number): KeyBytes;
export function partOf(from: KeyBytes, offset: number, length: number): KeyBytes {
  if (areInMemory(from)) return from.subarray(offset, offset + length);
  return { byteLength: length, read: (into, start) => from.read(into, offset + start) };
}
