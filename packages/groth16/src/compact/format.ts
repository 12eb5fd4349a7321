/**
 * The compact format of a proving key. It contains the same key as a .zkey file, byte for byte:
 *
 *   header    "czky", version (32 bits), SHA-256 of the .zkey file, size of that file, size of this file (64 bits each)
 *   sections  their number (32 bits), then of each its id (32 bits) and its length in the .zkey file (64 bits)
 *   contents  of each section, one after the other:
 *     5 to 9  points in groups of 1024, the last with the rest: a bit for each that is set if it is not infinity, then the
 *             x-coordinates of those points as in the .zkey file, with the highest bit set if the first part of y is odd there
 *     4       the matrices' coefficients, see coefficients.ts
 *     others  as in the .zkey file
 *
 * All numbers are little-endian. Nothing follows the last section.
 */
import { groth16Error } from "../errors.ts";
import type { Degree } from "../fast/layout.ts";

export const COMPACT_MAGIC = "czky";
export const COMPACT_VERSION = 1;
export const HASH_BYTES = 32;
/** Offsets in the header. */
export const AT = { version: 4, hash: 8, originalSize: 40, compactSize: 48, sections: 56 } as const;
export const HEADER_BYTES = 60;
export const SECTION_BYTES = 12;
/** The .zkey file's header, and that of each of its sections. */
export const [ZKEY_HEADER_BYTES, ZKEY_SECTION_BYTES] = [12, 12] as const;
/** Points that are computed at once. A page without workers does nothing else in the meantime, for about 6 ms. */
export const GROUP_POINTS = 1024;
export const COEFFICIENTS = 4;
/** A kernel addresses no more, and no key of a circuit that can be proved is that large. */
export const MAX_ORIGINAL_BYTES = 0x7fff_ffff;
/** A larger ratio is refused. Usual circuits have about 5; rows of about 900 terms on average exceed it. */
export const MAX_RATIO = 200;

/** The degree of the points in a section; undefined if it has other contents. */
export function degreeOf(section: number): Degree | undefined {
  if (section === 7) return 2;
  return section >= 5 && section <= 9 ? 1 : undefined;
}

/** Whether a file begins like a compact key. */
export function isCompactKey(file: Uint8Array): boolean {
  return file.byteLength >= 4 && String.fromCharCode(...file.subarray(0, 4)) === COMPACT_MAGIC;
}

/** What a compact key states of itself and of the key in it. */
export interface CompactKeyHeader {
  /** SHA-256 of the .zkey file that it expands to. */
  readonly hash: Uint8Array;
  /** Size of that file, bytes. */
  readonly originalSize: number;
  /** Size of the compact key, bytes. */
  readonly compactSize: number;
  /** Number of sections of the .zkey file. */
  readonly sections: number;
}

/**
 * Reads the header, of which nothing is compared with the rest.
 * @param bytes a compact key, or its first 60 bytes
 * @throws Groth16Error COMPACT_KEY_INVALID
 */
export function compactKeyHeader(bytes: Uint8Array): CompactKeyHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isComplete = bytes.byteLength >= HEADER_BYTES;
  if (!isComplete || !isCompactKey(bytes) || view.getUint32(AT.version, true) !== COMPACT_VERSION)
    throw invalidCompactKey("it is not a version 1 compact key");
  return {
    hash: bytes.slice(AT.hash, AT.hash + HASH_BYTES),
    originalSize: Number(view.getBigUint64(AT.originalSize, true)),
    compactSize: Number(view.getBigUint64(AT.compactSize, true)),
    sections: view.getUint32(AT.sections, true),
  };
}

/**
 * Whether a file is a compact key that states this SHA-256 of the key in it, and its own size. The key in it is not compared.
 * @param sha256 of a .zkey file, 64 lower-case hex digits
 */
export function isCompactKeyOf(file: Uint8Array, sha256: string): boolean {
  try {
    const { hash, compactSize } = compactKeyHeader(file);
    const stated = Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return stated === sha256 && compactSize === file.byteLength;
  } catch {
    return false;
  }
}

/** A Groth16Error with the code COMPACT_KEY_INVALID. */
export function invalidCompactKey(reason: string): Error {
  return groth16Error("COMPACT_KEY_INVALID", `The compact proving key is not usable: ${reason}.`, { reason });
}
