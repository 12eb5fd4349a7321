/** `pnpm bench NAME...`: runs the named benches. Figures as JSON lines on stdout, everything else on stderr. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { CommandError, runCommand } from "../lib/command.ts";

/** A figure: a dotted name that stays the same over time, a number, its unit. */
export type Print = (name: string, value: number, unit: string) => void;

interface Bench {
  /** What the bench measures, in one line. */
  readonly about: string;
  run(print: Print): void | Promise<void>;
}

/** Files of this folder that are not benches. */
const SUPPORT = ["l1-fee.ts", "main.ts"];
const folder = import.meta.dirname;

function names(): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".ts") && !SUPPORT.includes(file))
    .map((file) => file.slice(0, -".ts".length));
}

async function load(name: string): Promise<Bench> {
  return import(join(folder, `${name}.ts`));
}

function print(name: string, value: number, unit: string): void {
  if (!Number.isFinite(value)) throw new Error(`figure ${name} is ${value}, expected a number`);
  process.stdout.write(`${JSON.stringify({ name, value: Number(value.toPrecision(6)), unit })}\n`);
}

async function usage(): Promise<void> {
  process.stderr.write("usage: pnpm bench NAME...   (or: all)\n");
  for (const name of names()) process.stderr.write(`  ${name.padEnd(12)} ${(await load(name)).about}\n`);
}

await runCommand(async () => {
  const known = names();
  const asked = process.argv.slice(2).flatMap((name) => (name === "all" ? known : [name]));
  const unknown = asked.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new CommandError("BENCH_UNKNOWN", `no bench "${unknown.join('", "')}"; one of: all, ${known.join(", ")}`);
  if (asked.length === 0) return usage();
  for (const name of asked) {
    process.stderr.write(`bench ${name}\n`);
    await (await load(name)).run(print);
  }
});
