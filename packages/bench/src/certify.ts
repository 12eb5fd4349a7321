import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { Print } from "./main.ts";

export const about =
  "certificates: seconds and memory for all circuits with one checker and both, verdicts about others, and large ones";

/** The large circuits by their number of constraints: paths and levels. */
const LARGE = { "1k": [1, 2], "10k": [2, 10], "100k": [19, 10] } as const;

/** Runs a program of `inputs` in a process of its own. @returns its figures */
function runProgram(name: string, ...options: readonly string[]): { seconds: number; figures: Map<string, number> } {
  const start = performance.now();
  const program = join(import.meta.dirname, "inputs", `${name}.ts`);
  const { status, stdout } = spawnSync(process.execPath, [program, ...options], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) throw new Error(`${name} failed; its error is above`);
  const lines = stdout.trim().split("\n");
  const figures = new Map(lines.map((line) => [line.split(" ")[0] ?? "", Number(line.split(" ")[1])]));
  return { seconds: (performance.now() - start) / 1000, figures };
}

export function run(print: Print): void {
  const first = runProgram("certify-process", "first");
  print("certify.seconds", first.seconds, "s");
  for (const [name, value] of first.figures) {
    if (name === "memory") print("certify.memory", value / 1e6, "MB");
    else if (name === "cpu") print("certify.cpu", value, "s");
    else print(`certify.${name}.seconds`, value, "s");
  }
  const both = runProgram("certify-process", "both");
  print("certify.both.seconds", both.seconds, "s");
  for (const [name, value] of both.figures)
    print(`certify.both.${name}`, name === "memory" ? value / 1e6 : value, name === "memory" ? "MB" : "s");
  others(print);
  large(print);
}

/** Verdicts about circuits from elsewhere; one that is wrong is a failure of the checkers, not a figure to record. */
function others(print: Print): void {
  const { seconds, figures } = runProgram("certify-others");
  for (const [name, count] of figures) print(`certify.others.${name}`, count, "circuits");
  print("certify.others.seconds", seconds, "s");
  if (figures.get("wrong") !== 0) throw new Error("a verdict is wrong; its circuit is named above");
}

function large(print: Print): void {
  const measure = (size: keyof typeof LARGE) => {
    const { figures } = runProgram("certify-large", ...LARGE[size].map(String));
    const figure = (name: string) => figures.get(name) as number;
    print(`certify.large.${size}.seconds`, figure("certify"), "s");
    return figure;
  };
  const [smallest, , largest] = [measure("1k"), measure("10k"), measure("100k")];
  print("certify.large.constraints", largest("constraints"), "constraints");
  print("certify.large.seconds", largest("compile") + largest("certify"), "s");
  print("certify.large.memory", largest("memory") / 1e6, "MB");
  print("certify.growth", largest("certify") / smallest("certify"), "times");
}
