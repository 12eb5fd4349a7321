import { readFileSync } from "node:fs";
import { CommandError } from "@sotto/command/command";
import { type R1csHeader, readR1csHeader } from "../../circuits/r1cs-header.ts";
import { SIZES } from "./wasm-curve.ts";

/** The three linear combinations of a constraint A * B = C. */
export const MATRIX = { a: 0, b: 1, c: 2 } as const;

/** A circuit's constraints, one entry for each coefficient that is not zero, in file order. */
export interface R1cs extends R1csHeader {
  /** Public outputs and inputs: wires 1 to publicSignals; wire 0 is the constant 1. */
  publicSignals: number;
  /** log2 of the evaluation domain, which has a row for every constraint, every public wire and the constant. */
  logDomain: number;
  matrices: Uint8Array;
  constraintIndices: Uint32Array;
  wireIndices: Uint32Array;
  /** 32 bytes little-endian for each entry. */
  coefficients: Uint8Array<ArrayBuffer>;
}

const CONSTRAINTS_SECTION = 2;

/** Reads an .r1cs file written by circom (format: iden3/r1csfile). @throws CommandError R1CS_DAMAGED */
export function readR1cs(path: string): R1cs {
  try {
    return parseR1cs(path);
  } catch (cause) {
    // Node's error for a read past the end of the buffer.
    if (!(cause instanceof RangeError)) throw cause;
    throw new CommandError("R1CS_DAMAGED", `${path} ends early: compile it again`, { cause });
  }
}

function parseR1cs(path: string): R1cs {
  const header = readR1csHeader(path);
  const section = findSection(readFileSync(path), path);
  const entries = countEntries(section, header.constraints);
  const matrices = new Uint8Array(entries);
  const constraintIndices = new Uint32Array(entries);
  const wireIndices = new Uint32Array(entries);
  const coefficients = new Uint8Array(entries * SIZES.scalar);
  let entry = 0;
  walk(section, header.constraints, (constraint, matrix, count, position) => {
    for (let at = position; at < position + count * (4 + SIZES.scalar); at += 4 + SIZES.scalar, entry++) {
      matrices[entry] = matrix;
      constraintIndices[entry] = constraint;
      wireIndices[entry] = section.readUInt32LE(at);
      coefficients.set(section.subarray(at + 4, at + 4 + SIZES.scalar), entry * SIZES.scalar);
    }
  });
  const publicSignals = header.publicOutputs + header.publicInputs;
  const logDomain = Math.ceil(Math.log2(header.constraints + publicSignals + 1));
  return { ...header, publicSignals, logDomain, matrices, constraintIndices, wireIndices, coefficients };
}

function findSection(file: Buffer, path: string): Buffer {
  for (let position = 12; position < file.byteLength; ) {
    const length = Number(file.readBigUInt64LE(position + 4));
    if (file.readUInt32LE(position) === CONSTRAINTS_SECTION)
      return file.subarray(position + 12, position + 12 + length);
    position += 12 + length;
  }
  throw new CommandError("R1CS_DAMAGED", `${path} has no constraints section: compile it again`);
}

type Visit = (constraint: number, matrix: number, count: number, position: number) => void;

function walk(section: Buffer, constraints: number, visit: Visit): void {
  let position = 0;
  for (let constraint = 0; constraint < constraints; constraint++)
    for (let matrix = 0; matrix < 3; matrix++) {
      const count = section.readUInt32LE(position);
      visit(constraint, matrix, count, position + 4);
      position += 4 + count * (4 + SIZES.scalar);
    }
}

function countEntries(section: Buffer, constraints: number): number {
  let total = 0;
  walk(section, constraints, (_constraint, _matrix, count) => {
    total += count;
  });
  return total;
}
