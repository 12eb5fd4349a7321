import { readFileSync } from "node:fs";
import { P } from "./field.ts";

/**
 * An .r1cs file (iden3's binary format), small enough to be read in full. Constraint i says A_i(w) * B_i(w) = C_i(w).
 * An own reader, so that what accepts or refuses a witness in these tests shares nothing with snarkjs or the generated
 * witness calculator.
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
  /** Wire -> label: the number a signal has in the .sym file. */
  wireLabels: Uint32Array;
}

const FIELD_BYTES = 32;

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

export function readR1cs(path: string): R1cs {
  const parts = sections(readFileSync(path));
  const [header, body, map] = [parts.get(1), parts.get(2), parts.get(3)];
  if (!header || !body || !map) throw new Error(`${path} lacks a section`);
  if (header.readUInt32LE(0) !== FIELD_BYTES || readField(header, 4) !== P) throw new Error(`${path}: another field`);
  const count = (index: number) => header.readUInt32LE(36 + 4 * index);
  const constraints = header.readUInt32LE(36 + 24);
  const offsets = new Uint32Array(constraints + 1);
  let position = 0;
  for (let i = 0; i < constraints; i++) {
    for (let side = 0; side < 3; side++) position += 4 + body.readUInt32LE(position) * (4 + FIELD_BYTES);
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

function readField(buffer: Buffer, at: number): bigint {
  return (
    buffer.readBigUInt64LE(at) |
    (buffer.readBigUInt64LE(at + 8) << 64n) |
    (buffer.readBigUInt64LE(at + 16) << 128n) |
    (buffer.readBigUInt64LE(at + 24) << 192n)
  );
}

/**
 * The indices of the constraints (of all, or of `among`) that `witness` does not satisfy: one value for each wire, wire
 * 0 is 1.
 */
export function violations(r1cs: R1cs, witness: readonly bigint[], among?: readonly number[]): number[] {
  if (witness.length !== r1cs.wires) throw new Error(`${witness.length} values for ${r1cs.wires} wires`);
  if (witness[0] !== 1n) throw new Error("wire 0 must be 1");
  const { bytes, offsets } = r1cs;
  const broken: number[] = [];
  let position = 0;
  const combination = (): bigint => {
    let sum = 0n;
    const terms = bytes.readUInt32LE(position);
    position += 4;
    for (let i = 0; i < terms; i++, position += 4 + FIELD_BYTES)
      sum += readField(bytes, position + 4) * (witness[bytes.readUInt32LE(position)] as bigint);
    return sum % P;
  };
  for (const i of among ?? Array(r1cs.constraints).keys()) {
    position = offsets[i] as number;
    const product = combination() * combination();
    if ((product - combination()) % P !== 0n) broken.push(i);
  }
  return broken;
}

/** Every place a wire has in a constraint, constraint by constraint. */
export function* allTerms(r1cs: R1cs): Generator<[constraint: number, wire: number]> {
  for (let i = 0; i < r1cs.constraints; i++)
    for (let position = r1cs.offsets[i] as number; position < (r1cs.offsets[i + 1] as number); ) {
      const end = position + 4 + r1cs.bytes.readUInt32LE(position) * (4 + FIELD_BYTES);
      for (position += 4; position < end; position += 4 + FIELD_BYTES) yield [i, r1cs.bytes.readUInt32LE(position)];
    }
}

/**
 * The constraints of `whole` that `part` lacks (as indices of `whole`), and how many of `part` are not in `whole`. For
 * two systems over the same signals (both compiled without simplification); `wires` says which wire of `whole` a wire
 * of `part` is.
 */
export function difference(whole: R1cs, part: R1cs, wires: Uint32Array): { missing: Set<number>; foreign: number } {
  if (whole.wires !== part.wires) throw new Error(`${whole.wires} and ${part.wires} wires: not the same signals`);
  // With the same wires the compiler writes a constraint in the same bytes; otherwise signs and terms may differ.
  const same = wires.every((there, here) => there === here);
  const identity = Uint32Array.from(wires.keys());
  const counts = new Map<string, number>();
  for (const constraint of keys(part, same ? undefined : wires))
    counts.set(constraint, (counts.get(constraint) ?? 0) + 1);
  const missing = new Set<number>();
  for (const [index, constraint] of keys(whole, same ? undefined : identity).entries()) {
    const left = counts.get(constraint) ?? 0;
    if (left === 0) missing.add(index);
    else counts.set(constraint, left - 1);
  }
  let foreign = 0;
  for (const left of counts.values()) foreign += left;
  return { missing, foreign };
}

/** Each constraint as a string, equal for equal constraints; with `wires` renamed, terms and sign put in order. */
function keys(r1cs: R1cs, wires?: Uint32Array): string[] {
  return Array.from({ length: r1cs.constraints }, (_, index) => {
    const [start, end] = [r1cs.offsets[index] as number, r1cs.offsets[index + 1] as number];
    if (wires === undefined) return r1cs.bytes.toString("latin1", start, end);
    const sides: Term[][] = [];
    for (let position = start; position < end; ) {
      const terms = termsAt(r1cs.bytes, position);
      position += 4 + terms.length * (4 + FIELD_BYTES);
      sides.push(terms.map(([wire, value]): Term => [wires[wire] as number, value]).sort((a, b) => a[0] - b[0]));
    }
    const linear = sides[0]?.length === 0 || sides[1]?.length === 0;
    if (linear && sides[2]?.[0] !== undefined && sides[2][0][1] > P / 2n)
      sides[2] = sides[2].map(([wire, value]): Term => [wire, P - value]);
    return sides.map((terms) => terms.map((term) => term.join("*")).join("+")).join("|");
  });
}

type Term = [wire: number, coefficient: bigint];

function termsAt(bytes: Buffer, position: number): Term[] {
  return Array.from({ length: bytes.readUInt32LE(position) }, (_, i): Term => {
    const at = position + 4 + i * (4 + FIELD_BYTES);
    return [bytes.readUInt32LE(at), readField(bytes, at + 4)];
  });
}
