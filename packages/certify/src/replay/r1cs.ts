import { readFileSync } from "node:fs";
import { P } from "./field.ts";

/**
 * An .r1cs file (iden3's binary format), small enough to be read in full. Constraint i is A_i(w) * B_i(w) = C_i(w). This
 * reader shares no code with snarkjs or the generated witness calculator, so these tests judge a witness independently.
 */
export interface R1cs {
  wires: number;
  constraints: number;
  publicOutputs: number;
  publicInputs: number;
  privateInputs: number;
  labels: number;
  /** Constraint i is the bytes [offsets[i], offsets[i + 1]) of `bytes`. */
  bytes: Buffer;
  offsets: Uint32Array;
  /** Maps a wire to its label: the signal's number in the .sym file. */
  wireLabels: Uint32Array;
}

/** A term is a wire (4 bytes) and a coefficient. */
const FIELD_BYTES = 32;
export const TERM_BYTES = 4 + FIELD_BYTES;

export type Term = [wire: number, coefficient: bigint];

function sections(file: Buffer): Map<number, Buffer> {
  if (file.readUInt32LE(0) !== 0x73633172) throw new Error("not an r1cs file");
  const found = new Map<number, Buffer>();
  let position = 12;
  for (let i = 0; i < file.readUInt32LE(8); i++) {
    const length = Number(file.readBigUInt64LE(position + 4));
    found.set(file.readUInt32LE(position), file.subarray(position + 12, position + 12 + length));
    position += 12 + length;
  }
  return found;
}

export const readR1cs = (path: string): R1cs => parseR1cs(readFileSync(path), path);

/** @param name what an error calls the file */
export function parseR1cs(file: Buffer, name: string): R1cs {
  const parts = sections(file);
  const [header, body, map] = [parts.get(1), parts.get(2), parts.get(3)];
  if (!header || !body || !map) throw new Error(`${name} lacks a section`);
  if (header.readUInt32LE(0) !== FIELD_BYTES || readField(header, 4) !== P) throw new Error(`${name}: another field`);
  const count = (index: number) => header.readUInt32LE(36 + 4 * index);
  const constraints = header.readUInt32LE(36 + 24);
  const offsets = new Uint32Array(constraints + 1);
  let position = 0;
  for (let i = 0; i < constraints; i++) {
    for (let side = 0; side < 3; side++) position += 4 + body.readUInt32LE(position) * TERM_BYTES;
    offsets[i + 1] = position;
  }
  const wireLabels = new Uint32Array(count(0));
  for (let wire = 0; wire < wireLabels.length; wire++) wireLabels[wire] = Number(map.readBigUInt64LE(8 * wire));
  return {
    wires: count(0),
    publicOutputs: count(1),
    publicInputs: count(2),
    privateInputs: count(3),
    labels: Number(header.readBigUInt64LE(36 + 16)),
    constraints,
    bytes: body,
    offsets,
    wireLabels,
  };
}

/** A little-endian field element. */
export function readField(buffer: Buffer, at: number): bigint {
  return (
    buffer.readBigUInt64LE(at) |
    (buffer.readBigUInt64LE(at + 8) << 64n) |
    (buffer.readBigUInt64LE(at + 16) << 128n) |
    (buffer.readBigUInt64LE(at + 24) << 192n)
  );
}

/** A, B and C of one constraint. */
export function sidesOf({ bytes, offsets }: R1cs, constraint: number): [Term[], Term[], Term[]] {
  let position = offsets[constraint] as number;
  const side = (): Term[] => {
    const terms = bytes.readUInt32LE(position);
    position += 4;
    return Array.from({ length: terms }, (): Term => {
      const term: Term = [bytes.readUInt32LE(position), readField(bytes, position + 4)];
      position += TERM_BYTES;
      return term;
    });
  };
  return [side(), side(), side()];
}
