import { CertifyError } from "./errors.ts";
import { mod, P } from "./field.ts";

/**
 * The constraints of an .r1cs file. Constraint i is A_i(w) B_i(w) = C_i(w). Its side s (0: A, 1: B, 2: C) has the terms
 * start[3 i + s] up to start[3 i + s + 1]; term t is values[coefficients[t]] times wire terms[t]. Wire 0 is always 1.
 */
export interface System {
  /** Number of wires, with the constant 1. */
  readonly wires: number;
  /** Number of constraints. */
  readonly constraints: number;
  /** Number of outputs: wires 1 up to this one. */
  readonly outputs: number;
  /** Number of public inputs: the wires after the outputs. */
  readonly publicInputs: number;
  /**
   * Public and private inputs. They are the wires after the outputs, but after simplification circom counts private inputs
   * that are no longer wires.
   */
  readonly inputs: number;
  readonly start: Uint32Array;
  readonly terms: Uint32Array;
  readonly coefficients: Uint32Array;
  /** Distinct coefficients, each in [0, P). */
  readonly values: readonly bigint[];
  /** The label (number of the signal in the .sym file) of each wire. A name, never an argument. */
  readonly labels: Uint32Array;
}

const MAGIC = 0x73633172;
const FIELD_BYTES = 32;
/** Sections 4 and 5 define custom gates, which are constraints that this reader would miss. */
const SECTIONS = [1, 2, 3, 4, 5];

const damaged = (what: string): never => {
  throw new CertifyError(`the r1cs file ${what}: compile it again`);
};

function sectionsOf(file: Buffer): Map<number, Buffer> {
  if (file.length < 12 || file.readUInt32LE(0) !== MAGIC) return damaged("does not start with r1cs");
  if (file.readUInt32LE(4) !== 1) return damaged(`has version ${file.readUInt32LE(4)}, expected 1`);
  const found = new Map<number, Buffer>();
  let position = 12;
  for (let i = 0; i < file.readUInt32LE(8); i++) {
    if (position + 12 > file.length) return damaged("ends early");
    const [type, length] = [file.readUInt32LE(position), Number(file.readBigUInt64LE(position + 4))];
    position += 12;
    if (!SECTIONS.includes(type)) return damaged(`has a section of unknown type ${type}`);
    if (found.has(type)) return damaged(`has two sections of type ${type}`);
    if (length > file.length - position) return damaged("ends early");
    found.set(type, file.subarray(position, position + length));
    position += length;
  }
  if (position !== file.length) return damaged("has bytes after its last section");
  return found;
}

const fieldAt = (buffer: Buffer, at: number): bigint =>
  buffer.readBigUInt64LE(at) |
  (buffer.readBigUInt64LE(at + 8) << 64n) |
  (buffer.readBigUInt64LE(at + 16) << 128n) |
  (buffer.readBigUInt64LE(at + 24) << 192n);

/**
 * Reads an .r1cs file (iden3's binary format). It reads every byte and refuses what it does not understand.
 * @throws CertifyError R1CS_DAMAGED
 */
export function readSystem(file: Buffer): System {
  const parts = sectionsOf(file);
  const [header, body, map] = [parts.get(1), parts.get(2), parts.get(3)];
  if (!header || !body || !map) return damaged("lacks its header, its constraints or its labels");
  if ([4, 5].some((type) => parts.get(type)?.some((byte) => byte !== 0)))
    throw new CertifyError("the r1cs file uses custom gates, which are not constraints: no theorem covers them");
  if (header.length !== 64 || header.readUInt32LE(0) !== FIELD_BYTES) return damaged("has a header of another size");
  if (fieldAt(header, 4) !== P)
    throw new CertifyError("the r1cs file is not over BN254's scalar field: compile it with circom's --prime bn128");
  const count = (index: number) => header.readUInt32LE(36 + 4 * index);
  const [wires, outputs, publicInputs, constraints] = [count(0), count(1), count(2), header.readUInt32LE(60)];
  const inputs = publicInputs + count(3);
  if (wires < 1 + outputs + publicInputs) return damaged("has more public signals than wires");
  if (map.length !== 8 * wires) return damaged("has another number of labels than wires");
  if (constraints > body.length / 12) return damaged("has fewer constraints than it says");
  const size = Math.floor(body.length / 36);
  const [start, terms, coefficients] = [
    new Uint32Array(3 * constraints + 1),
    new Uint32Array(size),
    new Uint32Array(size),
  ];
  const values: bigint[] = [];
  const ids = new Map<string, number>();
  /** The last side in which a wire occurred. */
  const seen = new Int32Array(wires).fill(-1);
  let [position, term] = [0, 0];
  for (let side = 0; side < 3 * constraints; side++) {
    start[side] = term;
    if (position + 4 > body.length) return damaged("ends within a constraint");
    const length = body.readUInt32LE(position);
    position += 4;
    if (length * 36 > body.length - position) return damaged("ends within a constraint");
    for (let i = 0; i < length; i++, position += 36, term++) {
      const wire = body.readUInt32LE(position);
      if (wire >= wires) return damaged(`names wire ${wire} of ${wires}`);
      if (seen[wire] === side) return damaged(`names wire ${wire} twice in a sum`);
      seen[wire] = side;
      const key = body.toString("latin1", position + 4, position + 36);
      let id = ids.get(key);
      if (id === undefined) {
        const value = fieldAt(body, position + 4);
        if (value >= P) return damaged("has a coefficient above the field's prime");
        id = values.push(value) - 1;
        ids.set(key, id);
      }
      terms[term] = wire;
      coefficients[term] = id;
    }
  }
  start[3 * constraints] = term;
  if (position !== body.length) return damaged("has bytes after its last constraint");
  const labels = new Uint32Array(wires);
  for (let wire = 0; wire < wires; wire++) {
    const label = map.readBigUInt64LE(8 * wire);
    if (label >= 2n ** 32n) return damaged(`labels wire ${wire} with ${label}`);
    labels[wire] = Number(label);
  }
  return {
    wires,
    constraints,
    outputs,
    publicInputs,
    inputs,
    start,
    terms: terms.subarray(0, term),
    coefficients: coefficients.subarray(0, term),
    values,
    labels,
  };
}

/** A side of a constraint: coefficients by wire; wire 0 is the constant 1. */
export type Side = Readonly<Record<number, bigint>>;

/** A system written by hand. Wires 1 to `inputs` are private inputs. */
export function systemOf(wires: number, inputs: number, constraints: readonly (readonly [Side, Side, Side])[]): System {
  const [start, terms, coefficients, values]: [number[], number[], number[], bigint[]] = [[0], [], [], []];
  for (const sides of constraints)
    for (const side of sides) {
      for (const [wire, value] of Object.entries(side)) {
        terms.push(Number(wire));
        coefficients.push(values.push(mod(value)) - 1);
      }
      start.push(terms.length);
    }
  return {
    wires,
    constraints: constraints.length,
    outputs: 0,
    publicInputs: 0,
    inputs,
    start: Uint32Array.from(start),
    terms: Uint32Array.from(terms),
    coefficients: Uint32Array.from(coefficients),
    values,
    labels: Uint32Array.from({ length: wires }, (_, wire) => wire),
  };
}
