/** Input signals as snarkjs takes them. */
import { SCALAR_FIELD_ORDER } from "../proof/orders.ts";
import { type CircuitInput, type InputValue, invalid, MAX_DEPTH } from "../witness/input.ts";

/**
 * A value of a signal: a bigint, a safe integer, a boolean, or a text of a decimal or hexadecimal integer, possibly negative.
 * -x means r - x.
 */
export type SignalValueType = string | number | bigint | boolean | readonly SignalValueType[];

/** Input signals by name; arrays nested as in the circuit, or flat in the same order. */
export interface CircuitSignals {
  readonly [signal: string]: SignalValueType;
}

const INTEGER = /^(-?)([0-9]+|0[xX][0-9a-fA-F]+)$/;
/** Longer texts are not parsed: r has 77 digits. */
const MAX_TEXT = 1024;

/**
 * The canonical inputs.
 * @param reduce whether values outside the field are reduced modulo r, as snarkjs does
 * @throws Groth16Error INPUT_INVALID; the message names the signal and never repeats a value
 */
export function parseSignals(circuit: string, signals: CircuitSignals, reduce: boolean): CircuitInput {
  if (typeof signals !== "object" || signals === null || Array.isArray(signals))
    throw invalid(circuit, "?", "the inputs must be an object with a value for each signal");
  const parse = (name: string, value: unknown, depth: number): InputValue => {
    if (Array.isArray(value)) {
      if (depth === MAX_DEPTH) throw invalid(circuit, name, `arrays are nested deeper than ${MAX_DEPTH}`);
      return Array.from(value, (element: unknown) => parse(name, element, depth + 1));
    }
    const integer = toInteger(value);
    if (integer === undefined)
      throw invalid(
        circuit,
        name,
        `a value must be a bigint, a safe integer, or the text of an integer (it is ${value === null ? "null" : typeof value})`,
      );
    if (!reduce && (integer >= SCALAR_FIELD_ORDER || integer <= -SCALAR_FIELD_ORDER))
      throw invalid(circuit, name, "a value is outside the field: reduce it modulo r, or set reduceInputs");
    return ((integer % SCALAR_FIELD_ORDER) + SCALAR_FIELD_ORDER) % SCALAR_FIELD_ORDER;
  };
  return Object.fromEntries(Object.entries(signals).map(([name, value]) => [name, parse(name, value, 0)]));
}

function toInteger(value: unknown): bigint | undefined {
  if (typeof value === "bigint") return value;
  if (typeof value === "boolean" || Number.isSafeInteger(value)) return BigInt(value as boolean | number);
  if (typeof value !== "string" || value.length > MAX_TEXT) return undefined;
  const [, minus, digits] = INTEGER.exec(value) ?? [];
  if (digits === undefined) return undefined;
  return minus === "-" ? -BigInt(digits) : BigInt(digits);
}
