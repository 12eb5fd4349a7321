// Generates contracts/libraries/CircuitConstants.sol from circuits.json: the index of each signal and the sizes.
import { join } from "node:path";
import { type CircuitTable, readCircuitTable, shownSignals, signalCount } from "../circuits/circuits-json.ts";
import { root } from "../circuits/paths.ts";
import { CommandError } from "../lib/command.ts";
import { type GeneratedFile, header, runGenerators } from "./generated-file.ts";

export interface NamedConstant {
  name: string;
  value: number;
  description: string;
}

function shapeOf(table: CircuitTable, circuit: string, input: string): number[] {
  const found = table[circuit]?.privateInputs.find(({ name }) => name === input);
  if (found === undefined) throw new CommandError("CIRCUITS_JSON_INVALID", `circuits.json: ${circuit} has no ${input}`);
  return found.shape;
}

/** Sizes that the circuits determine, taken from the shapes of their inputs. */
export function treeConstants(table: CircuitTable): NamedConstant[] {
  const [depth = 0, arity = 0] = shapeOf(table, "payment", "pathChildren");
  const [leaves = 0] = shapeOf(table, "note_append", "leaves");
  const [inputs = 0] = shapeOf(table, "withdrawal", "enabled");
  return [
    { name: "TREE_ARITY", value: arity, description: "Number of children of a tree node" },
    { name: "TREE_DEPTH", value: depth, description: "Number of levels between a leaf and the root" },
    { name: "TREE_CAPACITY", value: arity ** depth, description: "Maximum number of leaves in the tree" },
    { name: "MAX_APPEND_LEAVES", value: leaves, description: "Maximum number of leaves in one append" },
    { name: "WITHDRAWAL_INPUTS", value: inputs, description: "Maximum number of notes that one withdrawal spends" },
  ];
}

const upper = (name: string): string => name.replace(/([A-Z])/g, "_$1").toUpperCase();

export async function generateConstants(): Promise<GeneratedFile> {
  const table = readCircuitTable();
  const line = ({ name, value, description }: NamedConstant) =>
    `    /// @dev ${description}.\n    uint256 internal constant ${name} = ${value};\n`;
  const groups = Object.entries(table).map(([circuit, entry]) => {
    const prefix = circuit.toUpperCase();
    let offset = 0;
    const lines = shownSignals(entry).map(({ name, size }) => {
      const constant = `    uint256 internal constant ${prefix}_${upper(name)} = ${offset};\n`;
      offset += size;
      return constant;
    });
    return (
      `    /// @dev Number of signals of the ${circuit} circuit, then the index of each (of the first element of an array).\n` +
      `    uint256 internal constant ${prefix}_SIGNALS = ${signalCount(entry)};\n${lines.join("")}`
    );
  });
  const content =
    `// SPDX-License-Identifier: GPL-3.0-or-later\n${header("circuits/circuits.json")}pragma solidity 0.8.37;\n\n` +
    "/// @title Constants of the circuits: sizes, and the index of each signal in wire order\n" +
    `library CircuitConstants {\n${[...treeConstants(table).map(line), ...groups].join("\n")}}\n`;
  return { path: join(root, "contracts", "libraries", "CircuitConstants.sol"), content };
}

if (import.meta.main) await runGenerators(generateConstants);
