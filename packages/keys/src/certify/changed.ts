import { describe } from "@sotto/certify/internal";
import { sha256File, writeIfChanged } from "../circuits/files.ts";
import { artifactPaths, type CircuitName } from "../circuits/paths.ts";
import { assertCertified, certificatePath, certificateText, certifyCircuit, committedCertificate } from "./circuits.ts";

/**
 * Certifies the built circuits whose certificate is for other files, and writes their new certificates.
 * @throws CommandError UNDERCONSTRAINED with each signal that may be free
 */
export async function certifyChanged(names: readonly CircuitName[]): Promise<void> {
  for (const name of names) {
    if (committedCertificate(name).r1cs === sha256File(artifactPaths(name).r1cs)) continue;
    const result = await certifyCircuit(name);
    assertCertified(result);
    writeIfChanged(certificatePath(name), certificateText(result.certificate));
    console.error(`circuits: ${name}: certified, ${describe(result)}`);
  }
}
