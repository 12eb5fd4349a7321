import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { CommandError } from "@sotto/command/command";
import type { Print } from "./main.ts";

export const about =
  "the certificates of all circuits: seconds and memory of the first checker, and with the second one";

const PROGRAM = join(import.meta.dirname, "inputs", "certify-process.ts");

/** Checks the certificates in a process of its own. */
function certify(checkers: "first" | "both"): { seconds: number; figures: [name: string, value: number][] } {
  const start = performance.now();
  const { status, stdout } = spawnSync(process.execPath, [PROGRAM, checkers], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) throw new CommandError("UNDERCONSTRAINED", "a circuit is not certified: run npm run certify");
  const figures = stdout
    .trim()
    .split("\n")
    .map((line): [string, number] => [line.split(" ")[0] ?? "", Number(line.split(" ")[1])]);
  return { seconds: (performance.now() - start) / 1000, figures };
}

export function run(print: Print): void {
  const first = certify("first");
  print("certify.seconds", first.seconds, "s");
  for (const [name, value] of first.figures) {
    if (name === "memory") print("certify.memory", value / 1e6, "MB");
    else if (name === "cpu") print("certify.cpu", value, "s");
    else print(`certify.${name}.seconds`, value, "s");
  }
  const both = certify("both");
  print("certify.both.seconds", both.seconds, "s");
  for (const [name, value] of both.figures)
    print(`certify.both.${name}`, name === "memory" ? value / 1e6 : value, name === "memory" ? "MB" : "s");
}
