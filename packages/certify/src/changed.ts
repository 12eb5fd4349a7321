import { existsSync, readFileSync } from "node:fs";
import { CommandError } from "@sotto/command/command";
import { sha256File, writeIfChanged } from "@sotto/keys/circuits/files";
import { artifactPaths, type CircuitName } from "@sotto/keys/circuits/paths";
import { type Certificate, certificatePath, certificateText, certifyCircuit, problemLines } from "./certify.ts";
import { describe } from "./report.ts";

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
