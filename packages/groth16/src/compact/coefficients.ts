/**
 * The matrices' coefficients, packed. A matrix has few different values, the same in many rows, and half of them are the
 * negatives of others. Three lists of numbers describe the entries in their order:
 *
 *   rows     for each run of entries with the same row and matrix: by how much 2·row + matrix exceeds that of the run before
 *            (signed), and the number of entries
 *   signals  by how much each signal exceeds the one before in its run (signed)
 *   values   of each entry: 0 for a value that follows in the file, 1 and then a distance for the negative of the value that
 *            many different values ago, 1 + a distance for that value itself
 *
 * The packed section has the numbers of values (32 bits), the sizes of the three lists, deflated together, and of that
 * (32 bits each), then the values, and the deflated lists.
 */

import { toNumber } from "../fast/canonical.ts";
import { COEFFICIENT_BYTES, SCALAR_BYTES } from "../fast/layout.ts";
import { SCALAR_FIELD_ORDER } from "../proof/orders.ts";
import { invalidCompactKey } from "./format.ts";
import { NumberReader, NumberWriter } from "./varint.ts";

/** Bytes before the values: five numbers. */
export const PACKED_HEADER_BYTES = 20;
/** An entry has at most two numbers of a row, one of a signal and two of a value. */
const MAX_ENTRY_BYTES = 25;
/** Offset of the value in a coefficient. */
const VALUE = 12;
const LIMIT = 0x1_0000_0000;

export interface Lists {
  readonly rows: Uint8Array;
  readonly signals: Uint8Array;
  readonly values: Uint8Array;
}

/** @param coefficients as in a .zkey file, without their number */
export function packCoefficients(coefficients: Uint8Array): { lists: Lists; values: Uint8Array } {
  const view = new DataView(coefficients.buffer, coefficients.byteOffset, coefficients.byteLength);
  const [rows, signals, values] = [new NumberWriter(), new NumberWriter(), new NumberWriter()];
  const known = new Map<bigint, number>();
  const fresh: Uint8Array[] = [];
  let before = 0;
  for (let start = 0; start < coefficients.byteLength; ) {
    const runOf = (offset: number) => view.getUint32(offset + 4, true) * 2 + view.getUint32(offset, true);
    const run = runOf(start);
    let end = start;
    let signalBefore = 0;
    for (; end < coefficients.byteLength && runOf(end) === run; end += COEFFICIENT_BYTES) {
      const signal = view.getUint32(end + 8, true);
      signals.writeSigned(signal - signalBefore);
      signalBefore = signal;
      const bytes = coefficients.subarray(end + VALUE, end + COEFFICIENT_BYTES);
      const value = toNumber(bytes);
      const index = known.get(value);
      const opposite = known.get(SCALAR_FIELD_ORDER - value);
      if (index !== undefined) values.write(1 + known.size - index);
      else {
        values.write(opposite === undefined ? 0 : 1);
        if (opposite === undefined) fresh.push(bytes);
        else values.write(known.size - opposite);
        known.set(value, known.size);
      }
    }
    rows.writeSigned(run - before);
    rows.write((end - start) / COEFFICIENT_BYTES);
    before = run;
    start = end;
  }
  const all = new Uint8Array(fresh.length * SCALAR_BYTES);
  for (const [index, bytes] of fresh.entries()) all.set(bytes, index * SCALAR_BYTES);
  return { lists: { rows: rows.bytes(), signals: signals.bytes(), values: values.bytes() }, values: all };
}

/** The sizes of a packed section's parts, bytes. */
export interface PackedSizes {
  readonly values: number;
  readonly rows: number;
  readonly signals: number;
  readonly indices: number;
  readonly deflated: number;
}

/** @throws Groth16Error COMPACT_KEY_INVALID if more is said to follow than `count` coefficients can need */
export function packedSizes(header: Uint8Array, count: number): PackedSizes {
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  const [values, rows, signals, indices, deflated] = [0, 1, 2, 3, 4].map((index) =>
    view.getUint32(4 * index, true),
  ) as [...[number, number, number, number, number]];
  const lists = rows + signals + indices;
  // What cannot be compressed becomes only a little larger.
  if (values > count || lists > count * MAX_ENTRY_BYTES || deflated > 2 * lists + 64)
    throw invalidCompactKey("its coefficients are more than their section has");
  return { values: values * SCALAR_BYTES, rows, signals, indices, deflated };
}

/**
 * Writes the coefficients.
 * @param into where they begin, as many as it has room for
 * @throws Groth16Error COMPACT_KEY_INVALID
 */
export function unpackCoefficients({ rows, signals, values }: Lists, fresh: Uint8Array, into: Uint8Array): void {
  const view = new DataView(into.buffer, into.byteOffset, into.byteLength);
  const [ofRows, ofSignals, ofValues] = [new NumberReader(rows), new NumberReader(signals), new NumberReader(values)];
  /** Where each different value occurs first. */
  const known: number[] = [];
  const valueAt = (distance: number): number => {
    const offset = known[known.length - distance];
    if (distance < 1 || offset === undefined)
      throw invalidCompactKey("a coefficient refers to a value that is not there");
    return offset;
  };
  let [run, used] = [0, 0];
  const write = (offset: number, signal: number): void => {
    view.setUint32(offset, run % 2, true);
    view.setUint32(offset + 4, Math.floor(run / 2), true);
    view.setUint32(offset + 8, signal, true);
    const to = offset + VALUE;
    const code = ofValues.read();
    if (code > 1) {
      const from = valueAt(code - 1);
      into.copyWithin(to, from, from + SCALAR_BYTES);
      return;
    }
    if (code === 1) writeOpposite(view, valueAt(ofValues.read()), to);
    else {
      if (used + SCALAR_BYTES > fresh.byteLength) throw invalidCompactKey("a value of its coefficients is missing");
      into.set(fresh.subarray(used, used + SCALAR_BYTES), to);
      used += SCALAR_BYTES;
    }
    known.push(to);
  };
  for (let offset = 0; offset < into.byteLength; ) {
    run += ofRows.readSigned();
    const end = offset + ofRows.read() * COEFFICIENT_BYTES;
    if (run < 0 || run >= 2 * LIMIT || end === offset || end > into.byteLength)
      throw invalidCompactKey("a row of its coefficients is out of range");
    for (let signal = 0; offset < end; offset += COEFFICIENT_BYTES) {
      signal += ofSignals.readSigned();
      if (signal < 0 || signal >= LIMIT) throw invalidCompactKey("a signal of its coefficients is out of range");
      write(offset, signal);
    }
  }
  if (!ofRows.isAtEnd || !ofSignals.isAtEnd || !ofValues.isAtEnd || used !== fresh.byteLength)
    throw invalidCompactKey("it has more coefficients than their section");
}

const ORDER_WORDS = /* @__PURE__ */ Array.from({ length: SCALAR_BYTES / 4 }, (_, word) =>
  Number((SCALAR_FIELD_ORDER >> BigInt(32 * word)) & 0xffffffffn),
);

/** r - value, modulo 2^256: the hash finds a value that is not below r. */
function writeOpposite(view: DataView, from: number, to: number): void {
  let borrow = 0;
  for (const [word, own] of ORDER_WORDS.entries()) {
    const difference = own - view.getUint32(from + 4 * word, true) - borrow;
    borrow = difference < 0 ? 1 : 0;
    view.setUint32(to + 4 * word, difference + borrow * LIMIT, true);
  }
}
