/** circom's .wtns container of a witness. Source: snarkjs 0.7, src/wtns_utils.js. */
import { groth16Error } from "../errors.ts";
import { areCanonical, toNumber } from "../fast/canonical.ts";
import { SCALAR_BYTES } from "../fast/layout.ts";
import type { Witness } from "../fast/parts.ts";
import { SCALAR_FIELD_ORDER } from "../proof/orders.ts";

/**
 * The witness of a .wtns file of version 1 or 2.
 * @returns a view of the file
 * @throws Groth16Error WITNESS_FILE_INVALID; no message contains a value
 */
export function parseWtns(file: Uint8Array): Witness {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const isWtns = file.byteLength >= 12 && view.getUint32(0) === 0x77746e73;
  if (!isWtns || ![1, 2].includes(view.getUint32(4, true)))
    throw invalidFile("it is not a wtns file of version 1 or 2");
  const sections = new Map<number, Uint8Array>();
  let offset = 12;
  for (let left = view.getUint32(8, true); left > 0; left--) {
    const length = offset + 12 > file.byteLength ? Number.NaN : Number(view.getBigUint64(offset + 4, true));
    if (!(offset + 12 + length <= file.byteLength)) throw invalidFile("it is cut off");
    const id = view.getUint32(offset, true);
    if (sections.has(id)) throw invalidFile(`section ${id} occurs twice`);
    sections.set(id, file.subarray(offset + 12, offset + 12 + length));
    offset += 12 + length;
  }
  const [header, witness] = [sections.get(1), sections.get(2)];
  if (header?.byteLength !== 8 + SCALAR_BYTES || witness === undefined) throw invalidFile("it is not over BN254");
  const numbers = new DataView(header.buffer, header.byteOffset, header.byteLength);
  if (
    numbers.getUint32(0, true) !== SCALAR_BYTES ||
    toNumber(header.subarray(4, 4 + SCALAR_BYTES)) !== SCALAR_FIELD_ORDER
  )
    throw invalidFile("it is not over BN254");
  if (numbers.getUint32(4 + SCALAR_BYTES, true) * SCALAR_BYTES !== witness.byteLength)
    throw invalidFile("its header and its length disagree");
  if (!areCanonical(witness, SCALAR_FIELD_ORDER)) throw invalidFile("an element is not below the field's order");
  if (witness.byteLength === 0 || toNumber(witness.subarray(0, SCALAR_BYTES)) !== 1n)
    throw invalidFile("its first element is not one");
  return witness;
}

/** A Groth16Error with the code WITNESS_FILE_INVALID. */
export function invalidFile(reason: string): Error {
  return groth16Error("WITNESS_FILE_INVALID", `The witness file is not usable: ${reason}.`, { reason });
}
