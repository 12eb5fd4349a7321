/** snarkjs's .zkey container: sections of a Groth16 proving key. Source: snarkjs 0.7, src/zkey_utils.js. */
import { groth16Error } from "../errors.ts";
import { BASE_FIELD_ORDER, SCALAR_FIELD_ORDER } from "../proof/orders.ts";
import { toNumber } from "./canonical.ts";
import { COEFFICIENT_BYTES, SCALAR_BYTES } from "./layout.ts";

/** Size of Montgomery's R in these files, bits. */
export const FILE_MONTGOMERY_BITS = 256n;
/** Two orders of fields with their sizes, three counts, three points of G1 and three of G2. */
const HEADER_BYTES = 660;

/** All points are affine, with coordinates in Montgomery form (R = 2^256), little-endian; all zeros mean infinity. */
export interface Zkey {
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
  readonly coefficients: Uint8Array;
  readonly a: Uint8Array;
  readonly b1: Uint8Array;
  readonly b2: Uint8Array;
  /** Only for the private variables. */
  readonly c: Uint8Array;
  readonly h: Uint8Array;
  /** The bases of one and the public signals. @throws Groth16Error PROVING_KEY_INVALID */
  ic(): readonly Uint8Array[];
}

/**
 * Parses a proving key. It checks that delta, which blinds the proofs, is not infinity: with such a key, each proof would
 * reveal sums over its witness. `prepareKey` checks that all numbers are below their field's order, and the engine checks the
 * header's points. Nobody checks whether the bases are on the curve: a proof with other bases does not verify.
 * @throws Groth16Error PROVING_KEY_INVALID
 */
export function parseZkey(file: Uint8Array): Zkey {
  const sections = parseSections(file);
  const take = sectionReader(sections);
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
    if (take(Number(id), 0, length).byteLength !== sections.get(Number(id))?.byteLength)
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
    coefficients: take(4, 4, number(4, 0) * COEFFICIENT_BYTES),
    a: take(5, 0, 64 * variables),
    b1: take(6, 0, 64 * variables),
    b2: take(7, 0, 128 * variables),
    c: take(8, 0, 64 * (variables - publicSignals - 1)),
    h: take(9, 0, 64 * domainSize),
    ic: () => Array.from({ length: publicSignals + 1 }, (_, index) => take(3, 64 * index, 64)),
  };
}

/** Contents by section id, in the file's order. */
type Sections = ReadonlyMap<number, Uint8Array>;

function sectionReader(sections: Sections): (id: number, offset: number, length: number) => Uint8Array {
  return (id, offset, length) => {
    const bytes = sections.get(id);
    if (bytes === undefined || offset + length > bytes.byteLength)
      throw invalidKey(`section ${id} is missing or short`);
    return bytes.subarray(offset, offset + length);
  };
}

/** @throws Groth16Error PROVING_KEY_INVALID */
export function parseSections(file: Uint8Array): Sections {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const sections = new Map<number, Uint8Array>();
  if (file.byteLength < 12 || String.fromCharCode(...file.subarray(0, 4)) !== "zkey" || view.getUint32(4, true) !== 1)
    throw invalidKey("it is not a version 1 zkey file");
  let offset = 12;
  for (let left = view.getUint32(8, true); left > 0; left--) {
    if (offset + 12 > file.byteLength) throw invalidKey("it is cut off");
    const [id, length] = [view.getUint32(offset, true), Number(view.getBigUint64(offset + 4, true))];
    offset += 12;
    if (offset + length > file.byteLength) throw invalidKey("it is cut off");
    if (sections.has(id)) throw invalidKey(`section ${id} occurs twice`);
    sections.set(id, file.subarray(offset, offset + length));
    offset += length;
  }
  if (offset !== file.byteLength) throw invalidKey("bytes follow its last section");
  return sections;
}

/** A Groth16Error with the code PROVING_KEY_INVALID. */
export function invalidKey(reason: string): Error {
  return groth16Error("PROVING_KEY_INVALID", `The proving key is not usable: ${reason}.`, { reason });
}
