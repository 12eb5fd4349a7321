/**
 * A free signal is a public signal that occurs only in its own square: circuits/circuits.json declares which signals
 * are free. This module finds its wires by comparing two witnesses.
 */
import { groth16Error, ofCircuit } from "../errors.ts";
import { SCALAR_BYTES } from "../fast/layout.ts";
import type { Witness } from "../fast/parts.ts";
import { SCALAR_FIELD_ORDER } from "../proof/orders.ts";

/** The wires whose values depend on the signal. */
export interface FreeSignal {
  /** The signal's wire; also its position among the public signals, counted from 1. */
  readonly wire: number;
  /** The wire of its square, which is private. */
  readonly square: number;
}

/** With the value 3, a wire that is the square (9) differs from one that is a multiple of the signal (3, 6). */
export const COMPARED_VALUE = 3n;

/**
 * @param atZero the witness with the value 0 of the signal
 * @param atThree the witness of the same other inputs with the value 3
 * @throws Groth16Error SIGNAL_NOT_FREE
 */
export function findFreeSignal(
  circuit: string,
  signal: string,
  atZero: Witness,
  atThree: Witness,
  publicSignals: number,
): FreeSignal {
  const fail = (reason: string): never => {
    const message = `Proofs${ofCircuit(circuit)} cannot be prepared for the signal ${signal}: ${reason}.`;
    throw groth16Error("SIGNAL_NOT_FREE", message, { circuit, signal });
  };
  const wires = differingWires(atZero, atThree);
  if (wires.length !== 2) return fail(`${wires.length} wires depend on it, expected it and its square`);
  const [wire, square] = wires as [number, number];
  const is = (index: number, zero: bigint, three: bigint): boolean =>
    elementAt(atZero, index) === zero && elementAt(atThree, index) === three;
  if (wire > publicSignals || square <= publicSignals) return fail("it must be public and its square private");
  if (!is(wire, 0n, COMPARED_VALUE) || !is(square, 0n, COMPARED_VALUE ** 2n))
    return fail("the other wire that depends on it is not its square");
  return { wire, square };
}

function differingWires(left: Witness, right: Witness): number[] {
  const wires: number[] = [];
  for (let wire = 0; wire < left.byteLength / SCALAR_BYTES; wire++) {
    const [start, end] = [wire * SCALAR_BYTES, (wire + 1) * SCALAR_BYTES];
    const other = right.subarray(start, end);
    if (left.subarray(start, end).some((byte, index) => byte !== other[index])) wires.push(wire);
  }
  return wires;
}

export function elementAt(witness: Witness, index: number): bigint {
  const view = new DataView(witness.buffer, witness.byteOffset + SCALAR_BYTES * index, SCALAR_BYTES);
  let value = 0n;
  for (let word = 3; word >= 0; word--) value = (value << 64n) | view.getBigUint64(8 * word, true);
  return value;
}

/** A copy of a witness with 1 added to an element that is below r - 1. */
export function plusOne(witness: Witness, index: number): Witness {
  const changed = witness.slice();
  const sum = (elementAt(witness, index) + 1n) % SCALAR_FIELD_ORDER;
  const view = new DataView(changed.buffer, SCALAR_BYTES * index, SCALAR_BYTES);
  for (let word = 0; word < 4; word++) view.setBigUint64(8 * word, BigInt.asUintN(64, sum >> BigInt(64 * word)), true);
  return changed;
}
