/** snarkjs's .zkey container: sections of a Groth16 proving key. Source: snarkjs 0.7, src/zkey_utils.js. */
import { groth16Error } from "../errors.ts";
import { BASE_FIELD_ORDER, SCALAR_FIELD_ORDER } from "../proof/orders.ts";
import { toNumber } from "./canonical.ts";
import { areInMemory, bytesIn, type KeyBytes, partOf, type StoredBytes } from "./key-bytes.ts";
import { COEFFICIENT_BYTES, SCALAR_BYTES } from "./layout.ts";

/** Size of Montgomery's R in these files, bits. */
export const FILE_MONTGOMERY_BITS = 256n;
/** Two orders of fields with their sizes, three counts, three points of G1 and three of G2. */
const HEADER_BYTES = 660;
/** snarkjs writes ten. Each costs a read of the file. */
export const MAX_SECTIONS = 64;

/**
 * All points are affine, with coordinates in Montgomery form (R = 2^256), little-endian; all zeros mean infinity. Sections of bases and
 * coefficients are views of a key in memory; of a key in a file, they are read when they are needed.
 */
export interface Zkey<Section extends KeyBytes = KeyBytes> {
  readonly variables: number;
  readonly publicSignals: number;
  readonly domainSize: number;
  readonly alpha1: Uint8Array;
  readonly beta1: Uint8Array;
  readonly beta2: Uint8Array;
  /** Only for verification, as `ic`. */
  readonly gamma2: Uint8Array;
  readonly delta1: Uint8Array;
  readonly delta2: Uint8Array;
  /** Entries of the matrices A (0) and B (1): matrix, row, variable, value·2^512 mod r. `loadMatrices` checks them. */
  readonly coefficients: Section;
  readonly a: Section;
  readonly b1: Section;
  readonly b2: Section;
  /** Only for the private variables. */
  readonly c: Section;
  readonly h: Section;
  /** The bases of one and the public signals. @throws Groth16Error PROVING_KEY_INVALID, CIRCUIT_FILE_UNREADABLE */
  ic(): readonly Uint8Array[];
}

/**
 * Parses a proving key. It checks that delta, which blinds the proofs, is not infinity: with such a key, each proof would
 * reveal sums over its witness. `prepareKey` checks that all numbers are below their field's order, and the engine checks the
 * header's points. Nobody checks whether the bases are on the curve: a proof with other bases does not verify.
 * @throws Groth16Error PROVING_KEY_INVALID, CIRCUIT_FILE_UNREADABLE
 */
export function parseZkey(file: Uint8Array): Zkey<Uint8Array>;
export function parseZkey(file: KeyBytes): Zkey;
export function parseZkey(file: KeyBytes): Zkey {
  if (areInMemory(file)) return parse(file);
  const zkey = parsed.get(file) ?? parse(file);
  parsed.set(file, zkey);
  return zkey;
}

/** The headers of keys in files are read once. */
const parsed = new WeakMap<StoredBytes, Zkey>();

function parse(file: KeyBytes): Zkey {
  const places = sectionsOf(file);
  const placeOf = (id: number, offset: number, length: number): Place => {
    const place = places.get(id);
    if (place === undefined || offset + length > place.length) throw invalidKey(`section ${id} is missing or short`);
    return { offset: place.offset + offset, length };
  };
  const part = (id: number, offset: number, length: number): KeyBytes => {
    const place = placeOf(id, offset, length);
    return partOf(file, place.offset, place.length);
  };
  // Of a key in a file, a header is read once.
  const heads = new Map<number, Uint8Array>();
  const take = (id: number, offset: number, length: number): Uint8Array => {
    placeOf(id, offset, length);
    const whole = places.get(id) as Place;
    const head = heads.get(id) ?? bytesIn(file, whole.offset, Math.min(whole.length, HEADER_BYTES));
    heads.set(id, head);
    return head.subarray(offset, offset + length);
  };
  const number = (id: number, offset: number): number => {
    const bytes = take(id, offset, 4);
    return new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
  };
  if (number(1, 0) !== 1) throw invalidKey("it is not a Groth16 key");
  if (number(2, 0) !== SCALAR_BYTES || toNumber(take(2, 4, SCALAR_BYTES)) !== BASE_FIELD_ORDER)
    throw invalidKey("it is not over BN254");
  if (number(2, 36) !== SCALAR_BYTES || toNumber(take(2, 40, SCALAR_BYTES)) !== SCALAR_FIELD_ORDER)
    throw invalidKey("it is not over BN254");
  const [variables, publicSignals, domainSize] = [number(2, 72), number(2, 76), number(2, 80)] as const;
  const isPower = domainSize >= 2 && (domainSize & (domainSize - 1)) === 0;
  if (!isPower || publicSignals >= variables) throw invalidKey("its header is inconsistent");
  const lengths = {
    ...{ 1: 4, 2: HEADER_BYTES, 4: 4 + number(4, 0) * COEFFICIENT_BYTES },
    ...{ 5: 64 * variables, 6: 64 * variables, 7: 128 * variables },
    ...{ 8: 64 * (variables - publicSignals - 1), 9: 64 * domainSize },
  };
  for (const [id, length] of Object.entries(lengths)) {
    if (placeOf(Number(id), 0, length).length !== places.get(Number(id))?.length)
      throw invalidKey(`section ${id} is longer than its header says`);
  }
  const [delta1, delta2] = [take(2, 468, 64), take(2, 532, 128)];
  if ([delta1, delta2].some((point) => point.every((byte) => byte === 0)))
    throw invalidKey("its delta is infinity, so proofs would not be blinded");
  return {
    variables,
    publicSignals,
    domainSize,
    alpha1: take(2, 84, 64),
    beta1: take(2, 148, 64),
    beta2: take(2, 212, 128),
    gamma2: take(2, 340, 128),
    delta1,
    delta2,
    coefficients: part(4, 4, number(4, 0) * COEFFICIENT_BYTES),
    a: part(5, 0, 64 * variables),
    b1: part(6, 0, 64 * variables),
    b2: part(7, 0, 128 * variables),
    c: part(8, 0, 64 * (variables - publicSignals - 1)),
    h: part(9, 0, 64 * domainSize),
    ic() {
      const place = placeOf(3, 0, 64 * (publicSignals + 1));
      const points = bytesIn(file, place.offset, place.length);
      return Array.from({ length: publicSignals + 1 }, (_, index) => points.subarray(64 * index, 64 * (index + 1)));
    },
  };
}

/** Where a section's contents are in the file, bytes. */
interface Place {
  readonly offset: number;
  readonly length: number;
}

/** Contents by section id, in the file's order. @throws Groth16Error PROVING_KEY_INVALID */
export function parseSections(file: Uint8Array): ReadonlyMap<number, Uint8Array> {
  const places = [...sectionsOf(file)];
  return new Map(places.map(([id, { offset, length }]) => [id, file.subarray(offset, offset + length)]));
}

/** By section id, in the file's order. @throws Groth16Error PROVING_KEY_INVALID, CIRCUIT_FILE_UNREADABLE */
function sectionsOf(file: KeyBytes): ReadonlyMap<number, Place> {
  const view = (offset: number): DataView => {
    if (offset + 12 > file.byteLength) throw invalidKey("it is cut off");
    const { buffer, byteOffset, byteLength } = bytesIn(file, offset, 12);
    return new DataView(buffer, byteOffset, byteLength);
  };
  if (file.byteLength < 12) throw invalidKey("it is not a version 1 zkey file");
  const header = view(0);
  const magic = String.fromCharCode(...[0, 1, 2, 3].map((offset) => header.getUint8(offset)));
  if (magic !== "zkey" || header.getUint32(4, true) !== 1) throw invalidKey("it is not a version 1 zkey file");
  const count = header.getUint32(8, true);
  if (count > MAX_SECTIONS) throw invalidKey(`it has ${count} sections, the limit is ${MAX_SECTIONS}`);
  const sections = new Map<number, Place>();
  let offset = 12;
  for (let left = count; left > 0; left--) {
    const section = view(offset);
    const [id, length] = [section.getUint32(0, true), Number(section.getBigUint64(4, true))];
    offset += 12;
    if (offset + length > file.byteLength) throw invalidKey("it is cut off");
    if (sections.has(id)) throw invalidKey(`section ${id} occurs twice`);
    sections.set(id, { offset, length });
    offset += length;
  }
  if (offset !== file.byteLength) throw invalidKey("bytes follow its last section");
  return sections;
}

/** A Groth16Error with the code PROVING_KEY_INVALID. */
export function invalidKey(reason: string): Error {
  return groth16Error("PROVING_KEY_INVALID", `The proving key is not usable: ${reason}.`, { reason });
}
