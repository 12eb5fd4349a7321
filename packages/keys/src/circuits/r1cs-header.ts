import { closeSync, openSync, readSync } from "node:fs";
import { CommandError } from "@sotto/command/command";

export interface R1csHeader {
  wires: number;
  publicOutputs: number;
  publicInputs: number;
  privateInputs: number;
  constraints: number;
}

const MAGIC = 0x73633172; // "r1cs", little endian
const HEADER_SECTION = 1;

/**
 * Reads the counts of an .r1cs file (format: iden3/r1csfile) without loading its constraints.
 * @throws CommandError R1CS_DAMAGED
 */
export function readR1csHeader(path: string): R1csHeader {
  const descriptor = openSync(path, "r");
  try {
    const read = (position: number, length: number) => {
      const buffer = Buffer.alloc(length);
      if (readSync(descriptor, buffer, 0, length, position) !== length)
        throw new CommandError("R1CS_DAMAGED", `${path} ends early: compile it again`);
      return buffer;
    };
    const start = read(0, 12);
    if (start.readUInt32LE(0) !== MAGIC) throw new CommandError("R1CS_DAMAGED", `${path} is not an r1cs file`);
    let position = 12;
    for (let section = 0; section < start.readUInt32LE(8); section++) {
      const head = read(position, 12);
      if (head.readUInt32LE(0) === HEADER_SECTION)
        return parseHeader(read(position + 12, Number(head.readBigUInt64LE(4))));
      position += 12 + Number(head.readBigUInt64LE(4));
    }
    throw new CommandError("R1CS_DAMAGED", `${path} has no header section`);
  } finally {
    closeSync(descriptor);
  }
}

/** The header section: field element size, prime, four u32 counts, u64 labels, u32 constraints. */
function parseHeader(section: Buffer): R1csHeader {
  const counts = 4 + section.readUInt32LE(0);
  return {
    wires: section.readUInt32LE(counts),
    publicOutputs: section.readUInt32LE(counts + 4),
    publicInputs: section.readUInt32LE(counts + 8),
    privateInputs: section.readUInt32LE(counts + 12),
    constraints: section.readUInt32LE(counts + 24),
  };
}
