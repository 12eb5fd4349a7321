/** Writes .r1cs files (format: iden3/r1csfile) without circom, and .wtns files. */
import { SCALAR_FIELD_ORDER } from "@sotto/test-kit/random";

/** Coefficients by wire. A coefficient is from 0 to r - 1. */
export type Combination = readonly (readonly [wire: number, coefficient: bigint])[];

/** (a)·(b) = (c). */
export interface Constraint {
  readonly a: Combination;
  readonly b: Combination;
  readonly c: Combination;
}

/** A constraint system; wire 0 is the constant one, the public signals follow it. */
export interface System {
  readonly wires: number;
  readonly publicSignals: number;
  readonly constraints: readonly Constraint[];
}

/** The bytes of an .r1cs file whose public signals are inputs. */
export function r1csFile({ wires, publicSignals, constraints }: System): Uint8Array {
  const header = Buffer.alloc(64);
  header.writeUInt32LE(32, 0);
  writeScalar(header, 4, SCALAR_FIELD_ORDER);
  const counts = [wires, 0, publicSignals, wires - publicSignals - 1];
  for (const [index, count] of counts.entries()) header.writeUInt32LE(count, 36 + 4 * index);
  header.writeBigUInt64LE(BigInt(wires), 52);
  header.writeUInt32LE(constraints.length, 60);
  const terms = constraints.reduce((sum, { a, b, c }) => sum + a.length + b.length + c.length, 0);
  const body = Buffer.alloc(12 * constraints.length + 36 * terms);
  let at = 0;
  for (const { a, b, c } of constraints) {
    for (const combination of [a, b, c]) {
      at = body.writeUInt32LE(combination.length, at);
      for (const [wire, coefficient] of combination) {
        at = body.writeUInt32LE(wire, at);
        at = writeScalar(body, at, coefficient);
      }
    }
  }
  const labels = Buffer.alloc(8 * wires);
  for (let wire = 0; wire < wires; wire++) labels.writeBigUInt64LE(BigInt(wire), 8 * wire);
  return Buffer.concat([start("r1cs", 1, 3), ...section(1, header), ...section(2, body), ...section(3, labels)]);
}

/** The bytes of a witness: element i in bytes 32i to 32i + 32, little-endian. */
export function witnessBytes(values: readonly bigint[]): Uint8Array {
  const bytes = Buffer.alloc(32 * values.length);
  for (const [index, value] of values.entries()) writeScalar(bytes, 32 * index, value);
  return new Uint8Array(bytes);
}

/** @returns the offset after the number */
function writeScalar(bytes: Buffer, offset: number, value: bigint): number {
  for (let word = 0; word < 4; word++)
    bytes.writeBigUInt64LE(BigInt.asUintN(64, value >> BigInt(64 * word)), offset + 8 * word);
  return offset + 32;
}

function section(id: number, bytes: Uint8Array): Uint8Array[] {
  const head = Buffer.alloc(12);
  head.writeUInt32LE(id, 0);
  head.writeBigUInt64LE(BigInt(bytes.byteLength), 4);
  return [head, bytes];
}

/** The bytes of a .wtns file of snarkjs. @param witness as `witnessBytes` writes it */
export function wtnsFile(witness: Uint8Array): Uint8Array {
  const header = Buffer.alloc(40);
  header.writeUInt32LE(32, 0);
  writeScalar(header, 4, SCALAR_FIELD_ORDER);
  header.writeUInt32LE(witness.byteLength / 32, 36);
  return Buffer.concat([start("wtns", 2, 2), ...section(1, header), ...section(2, witness)]);
}

function start(magic: string, version: number, sections: number): Uint8Array {
  const bytes = Buffer.alloc(12);
  bytes.write(magic, "latin1");
  bytes.writeUInt32LE(version, 4);
  bytes.writeUInt32LE(sections, 8);
  return bytes;
}
