import { readFileSync } from "node:fs";
import { readSystem, type System } from "@sotto/certify/internal";
import { CommandError } from "@sotto/command/command";
import { type CircuitEntry, readCircuitTable } from "../circuits/circuits-json.ts";
import { artifactPaths, type CircuitName } from "../circuits/paths.ts";

const SIDES = 3;

/** The wires of one side of a constraint (0: A, 1: B, 2: C). */
function wiresOf({ start, terms }: System, constraint: number, side: number): number[] {
  const at = SIDES * constraint + side;
  return [...terms.subarray(start[at], start[at + 1])];
}

/** The constraints that contain a wire. */
function constraintsWith(system: System, wire: number): number[] {
  const found = new Set<number>();
  for (let at = 0; at < SIDES * system.constraints; at++)
    if (system.terms.subarray(system.start[at], system.start[at + 1]).includes(wire)) found.add(Math.floor(at / SIDES));
  return [...found];
}

/**
 * Why a public signal is not free; undefined if it is. A free signal x occurs in one constraint, a x * b x = c y, and the
 * private wire y occurs in no other: so two witnesses that differ in x differ in x and y only.
 */
export function whyNotFree(system: System, wire: number): string | undefined {
  const constraints = constraintsWith(system, wire);
  const [square] = constraints;
  if (constraints.length !== 1 || square === undefined) return `it occurs in ${constraints.length} constraints`;
  const [left, right, result] = [0, 1, 2].map((side) => wiresOf(system, square, side)) as [
    number[],
    number[],
    number[],
  ];
  const isSignal = (wires: readonly number[]): boolean => wires.length === 1 && wires[0] === wire;
  const [other] = result;
  if (!isSignal(left) || !isSignal(right) || result.length !== 1 || other === undefined || other === wire)
    return `constraint ${square} is not its square`;
  if (other <= system.outputs + system.publicInputs) return "its square is public";
  if (constraintsWith(system, other).length !== 1) return "its square occurs in other constraints";
  return undefined;
}

/** The signals that circuits.json declares free and that are not, with the reason. */
export function wronglyFree({ publicSignals }: CircuitEntry, system: System): string[] {
  let wire = 1;
  return publicSignals.flatMap(({ name, size, free }) => {
    const reason = free === true ? whyNotFree(system, wire) : undefined;
    wire += size;
    return reason === undefined ? [] : [`${name}: ${reason}`];
  });
}

/**
 * Checks that the signals that circuits.json declares free are free in the built circuits.
 * @throws CommandError FREE_SIGNAL_USED
 */
export function assertFreeSignals(names: readonly CircuitName[]): void {
  const table = readCircuitTable();
  for (const name of names) {
    const entry = table[name]!;
    // Reading a large circuit takes a fifth of a second.
    if (!entry.publicSignals.some(({ free }) => free)) continue;
    const wrong = wronglyFree(entry, readSystem(readFileSync(artifactPaths(name).r1cs)));
    if (wrong.length === 0) continue;
    const advice = "prepared payments need these signals to be free; docs/protocol.md says why";
    throw new CommandError("FREE_SIGNAL_USED", [`${name} has signals that are not free`, ...wrong, advice].join("\n"), {
      inLines: true,
    });
  }
}
