// The recorded figures, from which docs/performance.md is written.
import { existsSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { writeIfChanged } from "@sotto/keys/circuits/files";
import { root } from "@sotto/keys/circuits/paths";

export interface Figure {
  readonly value: number;
  readonly unit: string;
}

/** A run of one bench. */
export interface Run {
  /** The day of the run, as YYYY-MM-DD. */
  readonly date: string;
  /** Cores, processor and version of Node. */
  readonly machine: string;
  readonly figures: Readonly<Record<string, Figure>>;
}

export const FIGURES_FILE = join(root, "docs", "figures.json");

/** The last recorded run of each bench, by its name. */
export function readFigures(path = FIGURES_FILE): Readonly<Record<string, Run>> {
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Record<string, Run>) : {};
}

/** Replaces the recorded run of a bench. */
export function recordRun(bench: string, figures: Run["figures"], path = FIGURES_FILE): void {
  const cores = cpus();
  const model = cores[0]?.model.replaceAll(/\s+/g, " ").trim() ?? "unknown";
  const machine = `${cores.length} ${cores.length === 1 ? "core" : "cores"} (${model}), Node ${process.versions.node}`;
  const all = { ...readFigures(path), [bench]: { date: new Date().toISOString().slice(0, 10), machine, figures } };
  const sorted = Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeIfChanged(path, `${JSON.stringify(sorted, undefined, 2)}\n`);
}
