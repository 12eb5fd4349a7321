/** snarkjs's .wtns container around a witness. */

import type { Witness } from "../fast/parts.ts";
import { SCALAR_FIELD_ORDER } from "../proof/orders.ts";

const ELEMENT_BYTES = 32;

/** Writes "wtns", version 2, section 1 (element size, field order, count) and section 2 (the elements). */
export function toWtns(witness: Witness): Uint8Array {
  const count = witness.byteLength / ELEMENT_BYTES;
  const header = 12;
  const first = 4 + ELEMENT_BYTES + 4;
  const file = new Uint8Array(header + 12 + first + 12 + witness.byteLength);
  const view = new DataView(file.buffer);
  file.set(new TextEncoder().encode("wtns"), 0);
  view.setUint32(4, 2, true);
  view.setUint32(8, 2, true);
  let offset = header;
  offset = section(view, offset, 1, first);
  view.setUint32(offset, ELEMENT_BYTES, true);
  for (let byte = 0; byte < ELEMENT_BYTES; byte++)
    file[offset + 4 + byte] = Number((SCALAR_FIELD_ORDER >> BigInt(8 * byte)) & 0xffn);
  view.setUint32(offset + 4 + ELEMENT_BYTES, count, true);
  offset = section(view, offset + first, 2, witness.byteLength);
  file.set(witness, offset);
  return file;
}

function section(view: DataView, offset: number, id: number, length: number): number {
  view.setUint32(offset, id, true);
  view.setBigUint64(offset + 4, BigInt(length), true);
  return offset + 12;
}
