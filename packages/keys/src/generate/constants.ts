// Generates the parts of the contracts that follow from circuits.json: CircuitConstants.sol, with sizes and the place of each
// signal, and PaymentSignals.sol, with the code that runs for each signal.
import { join } from "node:path";
import { CommandError } from "@sotto/command/command";
import {
  type CircuitEntry,
  type CircuitTable,
  publicSignalCount,
  readCircuitTable,
  shownSignals,
  signalCount,
} from "../circuits/circuits-json.ts";
import { type CircuitName, root } from "../circuits/paths.ts";
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
const hex = (value: number): string => `0x${value.toString(16).padStart(2, "0")}`;
const define = (name: string, value: number | string): string => `uint256 constant ${name} = ${value};\n`;

/**
 * The circuits that the contracts have constants for. The chain verifies no origins and no amount proofs; to remove the
 * constants of the latter would change the metadata hash of every contract.
 */
const IN_CONTRACTS: readonly CircuitName[] = ["payment", "elgamal_range", "withdrawal", "note_append"];

/** Words of a verification key before its points IC: alpha, beta, gamma and delta. */
const KEY_WORDS_BEFORE_IC = 14;

/** A circuit's counts, and the place of each of its words: its index, and its position in bytes. */
function circuitConstants(circuit: string, entry: CircuitEntry): string {
  const prefix = circuit.toUpperCase();
  const [shown, checked] = [signalCount(entry), publicSignalCount(entry)];
  let index = 0;
  const words = shownSignals(entry).flatMap(({ name, size, elements = [] }) => {
    const first = index;
    index += size;
    return [{ name, index: first }, ...elements.map((element, i) => ({ name: element, index: first + i }))];
  });
  return [
    `/// @dev The ${circuit} circuit: the words that the protocol shows, as number and in bytes; the verifier's public signals, and\n`,
    "/// the words of its key; then the index of each word (of an array, of its first element) and its position in the bytes.\n",
    define(`${prefix}_SIGNALS`, shown),
    define(`${prefix}_SIGNAL_BYTES`, hex(32 * shown)),
    define(`${prefix}_PUBLIC_SIGNALS`, checked),
    define(`${prefix}_KEY_WORDS`, KEY_WORDS_BEFORE_IC + 2 * (checked + 1)),
    ...words.flatMap((word) => [
      define(`${prefix}_${upper(word.name)}`, word.index),
      define(`${prefix}_${upper(word.name)}_AT`, hex(32 * word.index)),
    ]),
  ].join("");
}

const solidity = (content: string): string =>
  `// SPDX-License-Identifier: GPL-3.0-or-later\n${header("circuits/circuits.json")}pragma solidity 0.8.37;\n\n${content}`;

const libraryPath = (name: string): string => join(root, "contracts", "libraries", name);

/** Constants of files, not of a library: only those can be the length of an array and be used in assembly. */
export async function generateConstants(): Promise<GeneratedFile> {
  const table = readCircuitTable();
  const sizes = treeConstants(table).map(
    ({ name, value, description }) => `/// @dev ${description}.\n${define(name, value)}`,
  );
  const circuits = IN_CONTRACTS.flatMap((name) => {
    const circuit = table[name];
    return circuit === undefined ? [] : [circuitConstants(name, circuit)];
  });
  return { path: libraryPath("CircuitConstants.sol"), content: solidity([...sizes, ...circuits].join("\n")) };
}

/** The code that runs for every signal of a payment, unrolled: loops would cost each payment more gas. */
export async function generatePaymentSignals(): Promise<GeneratedFile> {
  const { payment } = readCircuitTable();
  if (payment === undefined) throw new CommandError("CIRCUITS_JSON_INVALID", "circuits.json has no payment");
  const positions = Array.from({ length: signalCount(payment) }, (_, index) => ({
    from: index === 0 ? "signals" : `add(signals, ${hex(32 * index)})`,
    to: `add(scalars, ${hex(32 * (index + 1))})`,
  }));
  const checks = positions.map(({ from }, index) => {
    const check = `lt(calldataload(${from}), FIELD_MODULUS)`;
    return `            inField := ${index === 0 ? check : `and(inField, ${check})`}\n`;
  });
  const sums = positions.map(({ from, to }) => `            add_(${to}, ${from}, weight)\n`);
  return {
    path: libraryPath("PaymentSignals.sol"),
    content: solidity(`// FIELD_MODULUS is used in assembly, which solhint does not read.
// solhint-disable-next-line no-unused-import
import {FIELD_MODULUS} from "./Bn254.sol";
import {PAYMENT_SIGNALS} from "./CircuitConstants.sol";

/// @title What is done with each signal of a payment
/// @notice Unrolled, because it runs for every payment.
library PaymentSignals {
    /// @notice Whether every signal is below p.
    /// @param signals public signals of a payment
    /// @return inField true if they are
    function areInField(uint256[PAYMENT_SIGNALS] calldata signals) internal pure returns (bool inField) {
        assembly ("memory-safe") {
${checks.join("")}        }
    }

    /// @notice Computes scalars += weight * (1, signals...) mod p.
    /// @param scalars the sums: of the weights, then of each signal; the first stays below p for 2^64 weights of 128 bits
    /// @param signals public signals of a payment
    /// @param weight weight of its proof, below 2^128
    function addWeighted(
        uint256[PAYMENT_SIGNALS + 1] memory scalars,
        uint256[PAYMENT_SIGNALS] calldata signals,
        uint256 weight
    ) internal pure {
        assembly ("memory-safe") {
            function add_(slot, position, w) {
                let term := mulmod(w, calldataload(position), FIELD_MODULUS)
                mstore(slot, addmod(mload(slot), term, FIELD_MODULUS))
            }
            mstore(scalars, add(mload(scalars), weight))
${sums.join("")}        }
    }
}
`),
  };
}

if (import.meta.main) await runGenerators(generateConstants, generatePaymentSignals);
