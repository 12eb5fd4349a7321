import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readCircuitTable } from "@sotto/keys/circuits/circuits-json";
import { type CircuitName, circuitsFolder, root } from "@sotto/keys/circuits/paths";
import type { R1csHeader } from "@sotto/keys/circuits/r1cs-header";

const FILE = join(circuitsFolder, "circuits.json");
type Counts = Pick<R1csHeader, "constraints" | "wires">;

/** The constraint counts of the last commit; empty if git or the file is missing. */
export function committedCounts(): Map<string, number> {
  const { status, stdout } = spawnSync("git", ["show", "HEAD:circuits/circuits.json"], { cwd: root, encoding: "utf8" });
  if (status !== 0) return new Map();
  const { circuits = {} } = JSON.parse(stdout) as { circuits?: Record<string, { constraints: number }> };
  return new Map(Object.entries(circuits).map(([name, { constraints }]) => [name, constraints]));
}

/** The text of circuits.json with a circuit's counts replaced and everything else unchanged. */
export function withCounts(text: string, name: string, { constraints, wires }: Counts): string {
  const start = text.indexOf(`"${name}": {`);
  const end = text.indexOf('"template"', text.indexOf('"template"', start) + 1);
  const entry = text.slice(start, end < 0 ? undefined : end);
  const changed = entry.replace(/("constraints": )\d+/, `$1${constraints}`).replace(/("wires": )\d+/, `$1${wires}`);
  return text.slice(0, start) + changed + text.slice(start + entry.length);
}

/** Writes the compiled counts into circuits.json, so that the diff of a commit shows the cost of a change. */
export function writeCounts(compiled: ReadonlyMap<CircuitName, Counts>): void {
  const before = readFileSync(FILE, "utf8");
  const known = readCircuitTable();
  let text = before;
  for (const [name, counts] of compiled) if (known[name] !== undefined) text = withCounts(text, name, counts);
  if (text !== before) writeFileSync(FILE, text);
}

/** A table of the compiled counts, the committed counts and their differences. */
export function countTable(compiled: ReadonlyMap<CircuitName, Counts>, committed: ReadonlyMap<string, number>): string {
  const rows = [...compiled].map(([name, { constraints }]) => {
    const before = committed.get(name);
    const difference = before === undefined || before === constraints ? "" : signed(constraints - before);
    return [name, String(constraints), before === undefined ? "-" : String(before), difference];
  });
  const table = [["circuit", "constraints", "committed", ""], ...rows];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  const line = (row: string[]) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join("  ");
  return table.map((row) => line(row).trimEnd()).join("\n");
}

const signed = (difference: number): string => (difference > 0 ? `+${difference}` : String(difference));
