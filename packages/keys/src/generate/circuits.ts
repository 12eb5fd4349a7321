// Generates packages/protocol/src/generated/circuits.ts from circuits.json: names, order, sizes and types of the signals.
import { join } from "node:path";
import {
  type CircuitEntry,
  publicSignalCount,
  readCircuitTable,
  shownSignals,
  signalCount,
} from "../circuits/circuits-json.ts";
import { root } from "../circuits/paths.ts";
import { treeConstants } from "./constants.ts";
import { type GeneratedFile, header, runGenerators } from "./generated-file.ts";

const arrayOf = (shape: readonly number[]): string =>
  shape.reduce((inner) => (inner === "bigint" ? "readonly bigint[]" : `readonly (${inner})[]`), "bigint");

/** A docstring from a description of circuits.json. */
const docstring = (text: string): string => `  /** ${text.replace(/\.$/, "")}. */\n`;

/** The witness input of a circuit: public signals first, in wire order, then private inputs. */
function inputType(circuit: CircuitEntry): string {
  const fields = [
    ...circuit.publicSignals.map(({ size, elements: _, free: __, ...signal }) => ({
      ...signal,
      shape: size === 1 ? [] : [size],
    })),
    ...circuit.privateInputs,
  ].map(({ name, shape, description }) => {
    const sizes = shape.length === 0 ? "" : `[${shape.join("][")}]: `;
    return `${docstring(sizes + description)}  readonly ${name}: ${arrayOf(shape)};\n`;
  });
  return `export interface ${circuit.template}Input {\n${fields.join("")}}\n`;
}

interface NamedSignal {
  name: string;
  position: number;
  size: number;
  description: string;
}

/** Every signal that is shown, with its own name: an array whose elements have names becomes several signals. */
function namedSignals(circuit: CircuitEntry): NamedSignal[] {
  let position = 0;
  return shownSignals(circuit).flatMap(({ name, size, elements, description }) => {
    const start = position;
    position += size;
    return elements === undefined
      ? [{ name, position: start, size, description: size === 1 ? description : `[${size}]: ${description}` }]
      : elements.map((element, i) => {
          const one = { name: element, position: start + i, size: 1 };
          return { ...one, description: `element ${i} of ${name}: ${description}` };
        });
  });
}

function positions(name: string, circuit: CircuitEntry): string {
  const lines = namedSignals(circuit).map((signal) => `    ${signal.name}: ${signal.position},\n`);
  return `  ${name}: {\n${lines.join("")}  },\n`;
}

/** An interface of the signals by name; the type of a value is its type parameter. */
function signalsType(circuit: CircuitEntry): string {
  const fields = namedSignals(circuit).map(
    ({ name, size, description }) =>
      `${docstring(description)}  readonly ${name}: ${size === 1 ? "Word" : "readonly Word[]"};\n`,
  );
  return `/** The signals of ${circuit.template}. */\nexport interface ${circuit.template}Signals<Word = bigint> {\n${fields.join("")}}\n`;
}

type NamedCircuit = readonly [name: string, circuit: CircuitEntry];

const signalsMember = ([name, circuit]: NamedCircuit): string =>
  `${docstring(`${signalCount(circuit)} field elements`)}  readonly ${name}: ${circuit.template}Signals<Word>;\n`;

const inputMember = ([name, { template, privateInputs }]: NamedCircuit): string =>
  `${docstring(`The public signals and ${privateInputs.length} private inputs`)}  readonly ${name}: ${template}Input;\n`;

function tableEntry(name: string, circuit: CircuitEntry): string {
  let offset = 0;
  const signals = circuit.publicSignals.map(({ name: signal, size }) => {
    const line = `      { name: "${signal}", offset: ${offset}, size: ${size} },\n`;
    offset += size;
    return line;
  });
  return (
    `  ${name}: {\n    template: "${circuit.template}",\n    constraints: ${circuit.constraints},\n` +
    `    signalCount: ${signalCount(circuit)},\n` +
    `    publicSignalCount: ${publicSignalCount(circuit)},\n    publicSignals: [\n${signals.join("")}    ],\n  },\n`
  );
}

export async function generateCircuits(): Promise<GeneratedFile> {
  const table = readCircuitTable();
  const circuits = Object.entries(table);
  const constants = treeConstants(table).map(
    ({ name, value, description }) => `/** ${description}. */\nexport const ${name} = ${value};\n`,
  );
  const content = [
    header("circuits/circuits.json"),
    ...constants,
    "/**\n * Each circuit's public signals in wire order; `offset` is the position of a signal's first element. `signalCount` is the\n" +
      " * number of words that the protocol shows: those of a withdrawal are more than its public signals, which follow from them.\n */\n" +
      `export const CIRCUITS = {\n${circuits.map(([name, circuit]) => tableEntry(name, circuit)).join("")}} as const;\n`,
    "/** The name of a circuit. */\nexport type CircuitName = keyof typeof CIRCUITS;\n",
    "/** Position of each signal in wire order; of an array, the position of its first element. */\n" +
      `export const SIGNAL_POSITIONS = {\n${circuits.map(([name, circuit]) => positions(name, circuit)).join("")}} as const;\n`,
    ...circuits.map(([, circuit]) => signalsType(circuit)),
    "/** The signals of each circuit by name. */\n" +
      `export interface CircuitSignals<Word = bigint> {\n${circuits.map(signalsMember).join("")}}\n`,
    ...circuits.map(([, circuit]) => inputType(circuit)),
    "/** The witness input of each circuit. */\n" +
      `export interface CircuitInputs {\n${circuits.map(inputMember).join("")}}\n`,
  ].join("\n");
  return { path: join(root, "packages", "protocol", "src", "generated", "circuits.ts"), content };
}

if (import.meta.main) await runGenerators(generateCircuits);
