import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CommandError } from "@sotto/command/command";
import { circuitsFolder } from "./paths.ts";

/** One public signal (or an array of them) in wire order. */
export interface SignalEntry {
  name: string;
  size: number;
  /** Names of an array's elements, for code that reads single elements. */
  elements?: string[] | undefined;
  /** Whether it occurs in the constraint of its own square only, so that proofs can be prepared without its value. */
  free?: true | undefined;
  description: string;
}

/** One private input: shape [] is a number, [n] an array, [n, m] an array of arrays. */
export interface PrivateInputEntry {
  name: string;
  shape: number[];
  description: string;
}

export interface CircuitEntry {
  template: string;
  parameters: Record<string, number>;
  /** The words that the protocol shows and hashes, if the public signals are computed from them. */
  signals?: SignalEntry[] | undefined;
  publicSignals: SignalEntry[];
  privateInputs: PrivateInputEntry[];
  constraints: number;
  wires: number;
}

export type CircuitTable = Record<string, CircuitEntry>;

const fail = (what: string): never => {
  throw new CommandError("CIRCUITS_JSON_INVALID", `circuits/circuits.json: ${what}`);
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isName = (value: unknown): value is string => typeof value === "string" && /^[a-z][A-Za-z0-9]*$/.test(value);

function parseSignal(where: string, value: unknown): SignalEntry {
  if (!isRecord(value) || typeof value["name"] !== "string") return fail(`${where} needs a name`);
  const { name, size, free } = value as { name: string; size: unknown; free: unknown };
  if (typeof size !== "number" || !Number.isInteger(size) || size < 1) return fail(`${where}.size must be 1 or more`);
  const elements = value["elements"];
  if (elements !== undefined && !(Array.isArray(elements) && elements.length === size && elements.every(isName)))
    return fail(`${where}.elements must be ${size} names`);
  if (free !== undefined && !(free === true && size === 1))
    return fail(`${where}.free must be true, of a signal of size 1`);
  const description = String(value["description"] ?? "");
  return { name, size, ...(elements && { elements }), ...(free && { free }), description };
}

function parsePrivateInput(where: string, value: unknown): PrivateInputEntry {
  if (!isRecord(value) || typeof value["name"] !== "string") return fail(`${where} needs a name`);
  const shape: unknown = value["shape"];
  if (!Array.isArray(shape) || !shape.every((size) => Number.isInteger(size) && size > 0))
    return fail(`${where}.shape must be a list of sizes`);
  return { name: value["name"], shape, description: String(value["description"] ?? "") };
}

function parseCircuit(name: string, value: unknown): CircuitEntry {
  if (!isRecord(value)) return fail(`${name} must be an object`);
  const { template, parameters, signals, publicSignals, privateInputs, constraints, wires } = value;
  if (typeof template !== "string") return fail(`${name}.template must be a string`);
  if (!Array.isArray(publicSignals) || publicSignals.length === 0) return fail(`${name}.publicSignals must be a list`);
  if (signals !== undefined && !Array.isArray(signals)) return fail(`${name}.signals must be a list`);
  if (!Array.isArray(privateInputs)) return fail(`${name}.privateInputs must be a list`);
  if (typeof constraints !== "number" || typeof wires !== "number")
    return fail(`${name}.constraints and ${name}.wires must be numbers`);
  const numbers = Object.entries(isRecord(parameters) ? parameters : {}).map(([key, parameter]): [string, number] =>
    typeof parameter === "number" ? [key, parameter] : fail(`${name}.parameters.${key} must be a number`),
  );
  return {
    template,
    parameters: Object.fromEntries(numbers),
    ...(signals && { signals: signals.map((signal, i) => parseSignal(`${name}.signals[${i}]`, signal)) }),
    publicSignals: publicSignals.map((signal, index) => parseSignal(`${name}.publicSignals[${index}]`, signal)),
    privateInputs: privateInputs.map((input, index) => parsePrivateInput(`${name}.privateInputs[${index}]`, input)),
    constraints,
    wires,
  };
}

/**
 * Reads circuits.json, which defines signal names, order, parameters and exact constraint counts.
 * @throws CommandError CIRCUITS_JSON_INVALID
 */
export function readCircuitTable(path = join(circuitsFolder, "circuits.json")): CircuitTable {
  if (!existsSync(path)) return fail("is missing");
  let document: unknown;
  try {
    document = JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    return fail(`is not JSON: ${(cause as Error).message}`);
  }
  if (!isRecord(document) || !isRecord(document["circuits"])) return fail('expected { "circuits": { ... } }');
  return Object.fromEntries(
    Object.entries(document["circuits"]).map(([name, value]) => [name, parseCircuit(name, value)]),
  );
}

const elements = (signals: readonly SignalEntry[]): number => signals.reduce((total, { size }) => total + size, 0);

/** Number of field elements in a circuit's public signals. */
export const publicSignalCount = (circuit: CircuitEntry): number => elements(circuit.publicSignals);

/** The signals that the protocol shows and hashes: the public signals, unless these are computed from others. */
export const shownSignals = (circuit: CircuitEntry): readonly SignalEntry[] => circuit.signals ?? circuit.publicSignals;

/** Number of field elements in `shownSignals`. */
export const signalCount = (circuit: CircuitEntry): number => elements(shownSignals(circuit));
