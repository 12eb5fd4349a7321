/** The container of .zkey and .ptau files (iden3/binfileutils): magic, version, then numbered sections. */
export function binFile(magic: string, sections: [id: number, parts: Uint8Array[]][]): Uint8Array[] {
  const head = Buffer.alloc(12);
  head.write(magic, "latin1");
  head.writeUInt32LE(1, 4);
  head.writeUInt32LE(sections.length, 8);
  return [head, ...sections.flatMap(([id, parts]) => [sectionHead(id, parts), ...parts])];
}

function sectionHead(id: number, parts: Uint8Array[]): Uint8Array {
  const head = Buffer.alloc(12);
  head.writeUInt32LE(id, 0);
  head.writeBigUInt64LE(BigInt(parts.reduce((total, part) => total + part.byteLength, 0)), 4);
  return head;
}

export function uint32(...values: number[]): Uint8Array {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => {
    bytes.writeUInt32LE(value, index * 4);
  });
  return bytes;
}
