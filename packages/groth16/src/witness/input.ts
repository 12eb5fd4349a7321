/** Checks circuit inputs. Error messages never contain a value, because some values are spending keys. */
import { groth16Error, ofCircuit } from "../errors.ts";
import { SCALAR_FIELD_ORDER } from "../proof/orders.ts";

/** A field element: a bigint, or its decimal string without leading zeros. Canonical: from 0 to r - 1. */
export type InputValue = bigint | string | readonly InputValue[];
/** Inputs by signal name; arrays nested as in the circuit, or flat in the same order. */
export type CircuitInput = { readonly [signal: string]: InputValue };

/**
 * @returns flat values by name
 * @throws Groth16Error INPUT_INVALID
 */
export function flattenInput(circuit: string, input: CircuitInput): Map<string, bigint[]> {
  if (typeof input !== "object" || input === null || Array.isArray(input))
    throw invalid(circuit, "?", "the inputs must be an object with a value for each signal");
  const flat = new Map<string, bigint[]>();
  for (const [name, value] of Object.entries(input)) {
    const values: bigint[] = [];
    collect(circuit, name, value, values, 0);
    flat.set(name, values);
  }
  return flat;
}

/** Maximum nesting of arrays: deeper than any signal of the circuits, but not deep enough to overflow the stack. */
export const MAX_DEPTH = 8;

function collect(circuit: string, name: string, value: unknown, values: bigint[], depth: number): void {
  if (Array.isArray(value)) {
    if (depth === MAX_DEPTH) throw invalid(circuit, name, `arrays are nested deeper than ${MAX_DEPTH}`);
    for (const element of value) collect(circuit, name, element, values, depth + 1);
    return;
  }
  const position = `element ${values.length}`;
  let element: bigint;
  if (typeof value === "bigint") element = value;
  else if (typeof value === "string" && /^(?:0|[1-9][0-9]{0,76})$/.test(value)) element = BigInt(value);
  else {
    const found = value === null ? "null" : typeof value;
    throw invalid(
      circuit,
      name,
      `${position} must be a bigint or a decimal string without leading zeros (it is ${found})`,
    );
  }
  if (element < 0n || element >= SCALAR_FIELD_ORDER)
    throw invalid(circuit, name, `${position} is not a field element: expected 0 to the field's order - 1`);
  values.push(element);
}

/** A Groth16Error with the code INPUT_INVALID. Its message names the circuit and the signal, not the value. */
export function invalid(circuit: string, signal: string, reason: string): Error {
  return groth16Error("INPUT_INVALID", `Input ${signal}${ofCircuit(circuit)}: ${reason}.`, {
    circuit,
    signal,
    reason,
  });
}
