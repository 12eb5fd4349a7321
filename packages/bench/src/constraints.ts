import { existsSync } from "node:fs";
import { CommandError } from "@sotto/command/command";
import { artifactPaths, circuitNames } from "@sotto/keys/circuits/paths";
import { readR1csHeader } from "@sotto/keys/circuits/r1cs-header";
import type { Print } from "./main.ts";

export const about = "R1CS constraints of each circuit, read from the compiled circuits";

export function run(print: Print): void {
  for (const name of circuitNames) {
    const { r1cs } = artifactPaths(name);
    if (!existsSync(r1cs)) throw new CommandError("R1CS_MISSING", `${r1cs} is missing: run npm run circuits:build`);
    print(`constraints.${name}`, readR1csHeader(r1cs).constraints, "constraints");
  }
}
