import { existsSync, readFileSync } from "node:fs";
import { type Certificate, problemLines } from "@sotto/certify/certify";
import { describe } from "@sotto/certify/report";
import { CommandError } from "@sotto/command/command";
import { sha256File, writeIfChanged } from "../circuits/files.ts";
import { artifactPaths, type CircuitName } from "../circuits/paths.ts";
import { certificatePath, certificateText, certifyCircuit } from "./circuits.ts";

function certifiedHash(name: CircuitName): string | undefined {
  const path = certificatePath(name);
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Partial<Certificate>).r1cs : undefined;
}

/**
 * Certifies the built circuits whose certificate is for other files, and writes their new certificates.
 * @throws CommandError UNDERCONSTRAINED with each signal that may be free
 */
export async function certifyChanged(names: readonly CircuitName[]): Promise<void> {
  for (const name of names) {
    if (certifiedHash(name) === sha256File(artifactPaths(name).r1cs)) continue;
    const result = await certifyCircuit(name);
    const problems = problemLines(result);
    if (problems.length > 0)
      throw new CommandError("UNDERCONSTRAINED", `${name} is not certified\n${problems.join("\n")}`, { inLines: true });
    writeIfChanged(certificatePath(name), certificateText(result.certificate));
    console.error(`circuits: ${name}: certified, ${describe(result)}`);
  }
}
