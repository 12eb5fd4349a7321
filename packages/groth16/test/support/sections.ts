/** Files of numbered sections, as snarkjs writes them, for tests that damage them. */

export interface Section {
  id: number;
  bytes: Uint8Array;
  /** What the file says its length is. Default: its length. */
  length?: bigint;
}

export function sectionsOf(file: Uint8Array): Section[] {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const sections: Section[] = [];
  for (let offset = 12; offset < file.byteLength; ) {
    const [id, length] = [view.getUint32(offset, true), Number(view.getBigUint64(offset + 4, true))];
    sections.push({ id, bytes: file.slice(offset + 12, offset + 12 + length) });
    offset += 12 + length;
  }
  return sections;
}

/** What a file begins with. */
export interface Start {
  readonly magic: string;
  readonly version: number;
  /** The number of sections. Default: as many as there are. */
  readonly count?: number;
}

export function fileOf(sections: readonly Section[], { magic, version, count = sections.length }: Start): Uint8Array {
  const start = Buffer.alloc(12);
  start.write(magic, "latin1");
  start.writeUInt32LE(version, 4);
  start.writeUInt32LE(count, 8);
  const parts = sections.flatMap(({ id, bytes, length = BigInt(bytes.byteLength) }) => {
    const head = Buffer.alloc(12);
    head.writeUInt32LE(id, 0);
    head.writeBigUInt64LE(length, 4);
    return [head, bytes];
  });
  return new Uint8Array(Buffer.concat([start, ...parts]));
}

/** 32 bytes, little-endian. */
export const toBytes = (value: bigint): Uint8Array =>
  Uint8Array.from({ length: 32 }, (_, byte) => Number((value >> BigInt(8 * byte)) & 0xffn));

/** The order of another curve's scalar field. */
export const BLS12_381_R = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n;
