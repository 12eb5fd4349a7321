/** Makes compact keys. */
import { SCALAR_BYTES } from "../fast/layout.ts";
import { parseSections, parseZkey } from "../fast/zkey.ts";
import { PACKED_HEADER_BYTES, packCoefficients } from "./coefficients.ts";
import {
  AT,
  COEFFICIENTS,
  COMPACT_MAGIC,
  COMPACT_VERSION,
  degreeOf,
  GROUP_POINTS,
  HEADER_BYTES,
  SECTION_BYTES,
} from "./format.ts";
import { sha256 } from "./hash.ts";
import { join } from "./join.ts";
import { plainView } from "./pieces.ts";
import { ODD } from "./roots.ts";

/**
 * Packs a .zkey file. The caller must compare what it expands to with the file: a key may have points that are not on their
 * curve, or numbers above their field's order.
 * @throws Groth16Error PROVING_KEY_INVALID
 */
export async function pack(zkey: Uint8Array): Promise<Uint8Array> {
  const file = plainView(zkey);
  parseZkey(file);
  const sections = [...parseSections(file)];
  const contents: Uint8Array[] = [];
  for (const [id, bytes] of sections) {
    const degree = degreeOf(id);
    if (degree !== undefined) contents.push(...packPoints(bytes, 2 * degree * SCALAR_BYTES));
    else if (id === COEFFICIENTS) contents.push(...(await packSection(bytes.subarray(4))));
    else contents.push(bytes);
  }
  const head = new Uint8Array(HEADER_BYTES + sections.length * SECTION_BYTES);
  const size = contents.reduce((sum, { byteLength }) => sum + byteLength, head.byteLength);
  const view = new DataView(head.buffer);
  head.set(Uint8Array.from(COMPACT_MAGIC, (letter) => letter.charCodeAt(0)));
  view.setUint32(AT.version, COMPACT_VERSION, true);
  head.set(await sha256(file), AT.hash);
  view.setBigUint64(AT.originalSize, BigInt(file.byteLength), true);
  view.setBigUint64(AT.compactSize, BigInt(size), true);
  view.setUint32(AT.sections, sections.length, true);
  for (const [index, [id, bytes]] of sections.entries()) {
    view.setUint32(HEADER_BYTES + index * SECTION_BYTES, id, true);
    view.setBigUint64(HEADER_BYTES + index * SECTION_BYTES + 4, BigInt(bytes.byteLength), true);
  }
  return join([head, ...contents]);
}

/** @param size of a point, bytes */
function packPoints(section: Uint8Array, size: number): Uint8Array[] {
  const groups: Uint8Array[] = [];
  for (let start = 0; start < section.byteLength; start += GROUP_POINTS * size) {
    const group = section.subarray(start, start + GROUP_POINTS * size);
    const bits = new Uint8Array(Math.ceil(group.byteLength / size / 8));
    const numbers: Uint8Array[] = [];
    for (let index = 0; index < group.byteLength / size; index++) {
      const point = group.subarray(index * size, (index + 1) * size);
      if (point.every((byte) => byte === 0)) continue;
      bits[index >> 3] = (bits[index >> 3] as number) | (1 << (index & 7));
      const x = point.slice(0, size / 2);
      if ((point[size / 2] as number) & 1) x[size / 2 - 1] = (x[size / 2 - 1] as number) | ODD;
      numbers.push(x);
    }
    groups.push(bits, ...numbers);
  }
  return groups;
}

async function packSection(coefficients: Uint8Array): Promise<Uint8Array[]> {
  const { lists, values } = packCoefficients(coefficients);
  const { rows, signals, values: indices } = lists;
  const plain = join([rows, signals, indices]);
  const stream = new Blob([plain]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const deflated = new Uint8Array(await new Response(stream).arrayBuffer());
  const header = new Uint8Array(PACKED_HEADER_BYTES);
  const view = new DataView(header.buffer);
  const sizes = [values.byteLength / SCALAR_BYTES, rows.byteLength, signals.byteLength, indices.byteLength];
  for (const [index, size] of [...sizes, deflated.byteLength].entries()) view.setUint32(4 * index, size, true);
  return [header, values, deflated];
}
