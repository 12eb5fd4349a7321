/** Expands a compact key to the .zkey file from which it was made, while it arrives. */
import { COEFFICIENT_BYTES, type Degree, SCALAR_BYTES } from "../fast/layout.ts";
import { MAX_SECTIONS } from "../fast/zkey.ts";
import { PACKED_HEADER_BYTES, packedSizes, unpackCoefficients } from "./coefficients.ts";
import {
  COEFFICIENTS,
  type CompactKeyHeader,
  compactKeyHeader,
  degreeOf,
  GROUP_POINTS,
  HEADER_BYTES,
  invalidCompactKey,
  MAX_ORIGINAL_BYTES,
  MAX_RATIO,
  SECTION_BYTES,
  ZKEY_HEADER_BYTES,
  ZKEY_SECTION_BYTES,
} from "./format.ts";
import { sha256 } from "./hash.ts";
import { inflateExactly } from "./inflate.ts";
import { PieceReader } from "./pieces.ts";

/** Bytes of other sections that are copied at once. */
const COPY_BYTES = 65536;
const WRONG_SIZE = "its size is not the one that it states";

/**
 * Computes points from packed x-coordinates; undefined if an x has no point.
 * @param group the number of the group, by which threads take turns
 */
export type ComputePoints = (group: number, degree: Degree, packed: Uint8Array) => Promise<Uint8Array | undefined>;

/** Limits and memory of an expansion. */
export interface Expansion {
  readonly computePoints: ComputePoints;
  /** Maximum size of the .zkey file, bytes. */
  readonly maxBytes: number;
  /** Size of the compact key, bytes, if it is known before it has arrived. */
  readonly compactSize?: number | undefined;
  /** Makes the memory of the .zkey file. */
  readonly allocate: (bytes: number) => Uint8Array;
}

interface Section {
  readonly id: number;
  readonly length: number;
}

interface Header extends Omit<CompactKeyHeader, "sections"> {
  readonly sections: readonly Section[];
}

/**
 * @returns the .zkey file, whose hash is the one in the compact key
 * @throws Groth16Error COMPACT_KEY_INVALID, COMPACT_KEY_UNSUPPORTED; and what reading the pieces throws
 */
export async function expand(pieces: AsyncIterable<Uint8Array>, expansion: Expansion): Promise<Uint8Array> {
  const reader = new PieceReader(pieces);
  try {
    const header = await readHeader(reader, expansion);
    const file = allocate(expansion, header.originalSize);
    const points: Promise<void>[] = [];
    let offset = writeHeader(file, header.sections.length);
    for (const { id, length } of header.sections) {
      offset = writeSectionHeader(file, offset, id, length);
      const section = file.subarray(offset, offset + length);
      const degree = degreeOf(id);
      if (degree !== undefined) await readPoints(reader, degree, section, expansion.computePoints, points);
      else if (id === COEFFICIENTS) await readCoefficients(reader, section);
      else await copySection(reader, section);
      offset += length;
    }
    if (reader.offset !== header.compactSize || !(await reader.isAtEnd())) throw invalidCompactKey(WRONG_SIZE);
    await Promise.all(points);
    const found = await sha256(file);
    if (!found.every((byte, index) => byte === header.hash[index]))
      throw invalidCompactKey("the key in it does not have the SHA-256 that it states");
    return file;
  } finally {
    await reader.close();
  }
}

async function readHeader(reader: PieceReader, { maxBytes, compactSize: arriving }: Expansion): Promise<Header> {
  const { hash, originalSize, compactSize, sections: count } = compactKeyHeader(await reader.take(HEADER_BYTES));
  if (arriving !== undefined && arriving !== compactSize) throw invalidCompactKey(WRONG_SIZE);
  const limit = Math.min(maxBytes, MAX_ORIGINAL_BYTES);
  if (originalSize > limit) throw invalidCompactKey(`the key in it has ${originalSize} bytes, the limit is ${limit}`);
  if (originalSize > MAX_RATIO * compactSize)
    throw invalidCompactKey(`the key in it is more than ${MAX_RATIO} times as large`);
  if (count > MAX_SECTIONS) throw invalidCompactKey(`it has ${count} sections, the limit is ${MAX_SECTIONS}`);
  const table = (await reader.take(count * SECTION_BYTES)).slice();
  const entries = new DataView(table.buffer);
  const sections = Array.from({ length: count }, (_, index) => ({
    id: entries.getUint32(index * SECTION_BYTES, true),
    length: Number(entries.getBigUint64(index * SECTION_BYTES + 4, true)),
  }));
  const size = sections.reduce<number>((sum, { length }) => sum + ZKEY_SECTION_BYTES + length, ZKEY_HEADER_BYTES);
  if (size !== originalSize) throw invalidCompactKey("its sections do not make a key of the size that it states");
  return { hash, originalSize, compactSize, sections };
}

function allocate({ allocate }: Expansion, bytes: number): Uint8Array {
  try {
    return allocate(bytes);
  } catch {
    throw invalidCompactKey(`the key in it has ${bytes} bytes, for which there is no memory`);
  }
}

function writeHeader(file: Uint8Array, sections: number): number {
  const view = new DataView(file.buffer, file.byteOffset, ZKEY_HEADER_BYTES);
  file.set(Uint8Array.from("zkey", (letter) => letter.charCodeAt(0)));
  view.setUint32(4, 1, true);
  view.setUint32(8, sections, true);
  return ZKEY_HEADER_BYTES;
}

function writeSectionHeader(file: Uint8Array, offset: number, id: number, length: number): number {
  const view = new DataView(file.buffer, file.byteOffset + offset, ZKEY_SECTION_BYTES);
  view.setUint32(0, id, true);
  view.setBigUint64(4, BigInt(length), true);
  return offset + ZKEY_SECTION_BYTES;
}

async function copySection(reader: PieceReader, section: Uint8Array): Promise<void> {
  for (let offset = 0; offset < section.byteLength; offset += COPY_BYTES)
    section.set(await reader.take(Math.min(COPY_BYTES, section.byteLength - offset)), offset);
}

/** Begins to compute the points of each group when it has arrived. @param computing gets the promises of the groups */
async function readPoints(
  reader: PieceReader,
  degree: Degree,
  section: Uint8Array,
  computePoints: ComputePoints,
  computing: Promise<void>[],
): Promise<void> {
  const size = 2 * degree * SCALAR_BYTES;
  if (section.byteLength % size !== 0) throw invalidCompactKey("a section has a part of a point");
  let failure: unknown;
  for (let offset = 0; offset < section.byteLength; offset += GROUP_POINTS * size) {
    const into = section.subarray(offset, offset + GROUP_POINTS * size);
    const finite = pointsIn(await reader.take(Math.ceil(into.byteLength / size / 8)), into.byteLength / size);
    const packed = await reader.take((finite.length * size) / 2);
    if (failure !== undefined) throw failure;
    if (finite.length === 0) continue;
    const group = computePoints(computing.length, degree, packed).then((points) => {
      if (points?.byteLength !== finite.length * size) throw invalidCompactKey("a point is not on its curve");
      scatter(points, finite, size, into);
    });
    // The next group reports it, or `expand`, which waits for all.
    group.catch((error: unknown) => {
      failure = error;
    });
    computing.push(group);
  }
}

/** Numbers of the bits that are set. */
function pointsIn(bits: Uint8Array, count: number): number[] {
  const numbers: number[] = [];
  for (let index = 0; index < 8 * bits.byteLength; index++) {
    if (((bits[index >> 3] as number) & (1 << (index & 7))) === 0) continue;
    if (index >= count) throw invalidCompactKey("a group has more points than its section");
    numbers.push(index);
  }
  return numbers;
}

/** Copies runs of points between which there is no infinity. */
function scatter(points: Uint8Array, numbers: readonly number[], size: number, into: Uint8Array): void {
  for (let start = 0; start < numbers.length; ) {
    const first = numbers[start] as number;
    let end = start + 1;
    while (end < numbers.length && numbers[end] === first + end - start) end++;
    into.set(points.subarray(start * size, end * size), first * size);
    start = end;
  }
}

async function readCoefficients(reader: PieceReader, section: Uint8Array): Promise<void> {
  const count = (section.byteLength - 4) / COEFFICIENT_BYTES;
  if (!Number.isInteger(count) || count < 0) throw invalidCompactKey("its section of coefficients has a part of one");
  const sizes = packedSizes(await reader.take(PACKED_HEADER_BYTES), count);
  const values = await reader.take(sizes.values);
  const deflated = await reader.take(sizes.deflated);
  const lists = await inflateExactly(deflated, sizes.rows + sizes.signals + sizes.indices);
  if (lists === undefined) throw invalidCompactKey("its coefficients cannot be decompressed");
  new DataView(section.buffer, section.byteOffset, 4).setUint32(0, count, true);
  const middle = sizes.rows + sizes.signals;
  const parts = {
    rows: lists.subarray(0, sizes.rows),
    signals: lists.subarray(sizes.rows, middle),
    values: lists.subarray(middle),
  };
  unpackCoefficients(parts, values, section.subarray(4));
}
