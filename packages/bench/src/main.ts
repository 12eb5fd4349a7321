/**
 * `pnpm bench NAME... [--record]`: runs the named benches. Figures as JSON lines on stdout, everything else on stderr. With
 * --record, each bench replaces its figures in docs/figures.json and in the pages that show them. If one fails, the others
 * still run.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { CommandError, errorLine, runCommand } from "@sotto/command/command";
import { generate } from "@sotto/keys/generate/generated-file";
import { type Figure, recordRun } from "./record/figures.ts";
import { FIGURE_PAGES } from "./record/performance.ts";

/** A figure: a dotted name that stays the same over time, a number, its unit. */
export type Print = (name: string, value: number, unit: string) => void;

interface Bench {
  /** What the bench measures, in one line. */
  readonly about: string;
  run(print: Print): void | Promise<void>;
}

const folder = import.meta.dirname;

/** Every other file of this folder is a bench. */
function names(): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".ts") && file !== "main.ts")
    .map((file) => file.slice(0, -".ts".length));
}

async function load(name: string): Promise<Bench> {
  return import(join(folder, `${name}.ts`));
}

/** Prints a figure. @returns it as printed */
function print(name: string, value: number, unit: string): Figure {
  if (!Number.isFinite(value)) throw new Error(`figure ${name} is ${value}, expected a number`);
  const figure = { value: Number(value.toPrecision(6)), unit };
  process.stdout.write(`${JSON.stringify({ name, ...figure })}\n`);
  return figure;
}

/** Runs a bench, and records its figures if asked to. */
async function measure(name: string, isRecorded: boolean): Promise<void> {
  process.stderr.write(`bench ${name}\n`);
  const figures: Record<string, Figure> = {};
  const keep: Print = (figure, value, unit) => {
    figures[figure] = print(figure, value, unit);
  };
  await (await load(name)).run(keep);
  if (!isRecorded) return;
  recordRun(name, figures);
  await generate(FIGURE_PAGES, false);
}

async function usage(): Promise<void> {
  process.stderr.write("usage: pnpm bench NAME... [--record]   (or: all)\n");
  for (const name of names()) process.stderr.write(`  ${name.padEnd(12)} ${(await load(name)).about}\n`);
}

await runCommand(async () => {
  const known = names();
  const options = process.argv.slice(2);
  const isRecorded = options.includes("--record");
  const asked = options.filter((name) => name !== "--record").flatMap((name) => (name === "all" ? known : [name]));
  const unknown = asked.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new CommandError("BENCH_UNKNOWN", `no bench "${unknown.join('", "')}"; one of: all, ${known.join(", ")}`);
  if (asked.length === 0) return usage();
  const failed: string[] = [];
  for (const name of asked) {
    try {
      await measure(name, isRecorded);
    } catch (error) {
      process.stderr.write(`${errorLine(error)}\n`);
      failed.push(name);
    }
  }
  if (failed.length > 0)
    throw new CommandError("BENCH_FAILED", `see the error of ${failed.join(", ")} above; the other benches ran`);
});
