import { readFileSync } from "node:fs";
import { P } from "./field.ts";
import { need } from "./need.ts";

/**
 * An .r1cs file (iden3's binary format), small enough to be read in full. Constraint i is A_i(w) * B_i(w) = C_i(w). This
 * reader shares no code with snarkjs or the generated witness calculator, so that tests judge a witness independently.
 */
export interface R1cs {
  /** Number of wires, with the constant 1. */
  wires: number;
  /** Number of constraints. */
  constraints: number;
  /** Number of outputs: wires 1 up to this one. */
  publicOutputs: number;
  /** Number of public inputs: the wires after the outputs. */
  publicInputs: number;
  /** Number of private inputs, also those that simplification eliminated. */
  privateInputs: number;
  /** Number of signals of the source. */
  labels: number;
  /** Constraint i is the bytes [offsets[i], offsets[i + 1]) of `bytes`. */
  bytes: Buffer;
  offsets: Uint32Array;
  /** Maps a wire to its label: the signal's number in the .sym file. */
  wireLabels: Uint32Array;
}

const FIELD_BYTES = 32;
/** Bytes of a term: a wire (4 bytes) and a coefficient. */
export const TERM_BYTES = 4 + FIELD_BYTES;

/** A wire and its coefficient in [0, P). */
export type Term = [wire: number, coefficient: bigint];

/** Header, constraints and labels. Other sections would be constraints of another kind, unless they are empty. */
function sections(file: Buffer, name: string): Map<number, Buffer> {
  need(file.length >= 12 && file.readUInt32LE(0) === 0x73633172, `${name} is not an r1cs file`);
  const found = new Map<number, Buffer>();
  let position = 12;
  for (let i = 0; i < file.readUInt32LE(8); i++) {
    need(position + 12 <= file.length, `${name} ends early`);
    const [type, length] = [file.readUInt32LE(position), Number(file.readBigUInt64LE(position + 4))];
    position += 12;
    need(length <= file.length - position, `${name} ends early`);
    need(type >= 1 && type <= 5 && !found.has(type), `${name} has an unexpected section ${type}`);
    found.set(type, file.subarray(position, position + length));
    position += length;
  }
  need(position === file.length, `${name} has bytes after its last section`);
  for (const type of [4, 5]) need(!found.get(type)?.some((byte) => byte !== 0), `${name} uses custom gates`);
  return found;
}

/** Reads an .r1cs file. Throws an Error if it is damaged. */
export const readR1cs = (path: string): R1cs => parseR1cs(readFileSync(path), path);

/**
 * Reads the contents of an .r1cs file. Throws an Error if they are damaged.
 * @param name what an error calls the file
 */
export function parseR1cs(file: Buffer, name: string): R1cs {
  const parts = sections(file, name);
  const [header, body, map] = [parts.get(1), parts.get(2), parts.get(3)];
  if (!header || !body || !map) throw new Error(`${name} lacks a section`);
  if (header.length !== 64 || header.readUInt32LE(0) !== FIELD_BYTES || readField(header, 4) !== P)
    throw new Error(`${name}: another field`);
  const count = (index: number) => header.readUInt32LE(36 + 4 * index);
  const constraints = header.readUInt32LE(36 + 24);
  need(map.length === 8 * count(0), `${name} has another number of labels than wires`);
  need(count(0) > count(1) + count(2), `${name} has more public signals than wires`);
  need(constraints <= body.length / 12, `${name} has fewer constraints than it says`);
  const offsets = new Uint32Array(constraints + 1);
  let position = 0;
  for (let i = 0; i < constraints; i++) {
    for (let side = 0; side < 3; side++) {
      need(position + 4 <= body.length, `${name} ends within a constraint`);
      const end = position + 4 + body.readUInt32LE(position) * TERM_BYTES;
      need(end <= body.length, `${name} ends within a constraint`);
      const seen = new Set<number>();
      for (let at = position + 4; at < end; at += TERM_BYTES) {
        const wire = body.readUInt32LE(at);
        need(wire < count(0) && !seen.has(wire), `${name} names wire ${wire} wrongly`);
        need(readField(body, at + 4) < P, `${name} has a coefficient above the field's prime`);
        seen.add(wire);
      }
      position = end;
    }
    offsets[i + 1] = position;
  }
  need(position === body.length, `${name} has bytes after its last constraint`);
  const wireLabels = new Uint32Array(count(0));
  for (let wire = 0; wire < wireLabels.length; wire++) {
    need(map.readUInt32LE(8 * wire + 4) === 0, `${name} has a label above 2^32`);
    wireLabels[wire] = map.readUInt32LE(8 * wire);
  }
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

/** The first field elements that were read, by their bytes: a large circuit has a million terms, and few coefficients. */
const elements = new Map<string, bigint>();
const MAX_ELEMENTS = 2 ** 14;

/** A little-endian field element. */
export function readField(buffer: Buffer, at: number): bigint {
  const bytes = buffer.toString("latin1", at, at + FIELD_BYTES);
  const known = elements.get(bytes);
  if (known !== undefined) return known;
  const element =
    buffer.readBigUInt64LE(at) |
    (buffer.readBigUInt64LE(at + 8) << 64n) |
    (buffer.readBigUInt64LE(at + 16) << 128n) |
    (buffer.readBigUInt64LE(at + 24) << 192n);
  if (elements.size < MAX_ELEMENTS) elements.set(bytes, element);
  return element;
}

/** A, B and C of one constraint. */
export function sidesOf({ bytes, offsets }: R1cs, constraint: number): [Term[], Term[], Term[]] {
  let position = offsets[constraint] as number;
  const side = (): Term[] => {
    const end = position + 4 + bytes.readUInt32LE(position) * TERM_BYTES;
    const terms: Term[] = [];
    for (position += 4; position < end; position += TERM_BYTES)
      terms.push([bytes.readUInt32LE(position), readField(bytes, position + 4)]);
    return terms;
  };
  return [side(), side(), side()];
}

/**
 * The wires of the inputs, by circom's labels: the outputs have the first ones, then the public and the private inputs.
 * After simplification, a private input can lack a wire. Throws an Error if the public signals have other labels.
 */
export function inputWires({ publicOutputs, publicInputs, privateInputs, wireLabels }: R1cs): number[] {
  for (let wire = 0; wire <= publicOutputs + publicInputs; wire++)
    need(wireLabels[wire] === wire, "the r1cs file does not number its signals as circom does");
  need(new Set(wireLabels).size === wireLabels.length, "the r1cs file has two wires of one label");
  return [...wireLabels.keys()].filter((wire) => {
    const label = wireLabels[wire] as number;
    return label > publicOutputs && label <= publicOutputs + publicInputs + privateInputs;
  });
}
