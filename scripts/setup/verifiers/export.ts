import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import prettier from "prettier";
import { zKey } from "snarkjs";
import { writeIfChanged } from "../../circuits/files.ts";
import { artifactPaths, type CircuitName, root } from "../../circuits/paths.ts";
import { CommandError } from "../../lib/command.ts";

/** The circuits whose proofs the chain checks. The amount proof goes to the service and the resource server only. */
const CONTRACTS: Partial<Record<CircuitName, string>> = {
  payment: "Payment",
  withdrawal: "Withdrawal",
  note_append: "NoteAppend",
};

/** Where a circuit's exported verifier is, if it has one. */
export function verifierPath(circuit: CircuitName): string | undefined {
  const name = CONTRACTS[circuit];
  return name === undefined ? undefined : join(root, "contracts", "verifiers", `${name}Verifier.sol`);
}

/** snarkjs's export of a zkey with our template, formatted like every other contract. */
async function renderVerifier(circuit: CircuitName, set: string): Promise<string> {
  const template = readFileSync(new URL("./verifier.sol.ejs", import.meta.url), "utf8")
    .replaceAll("@NAME@", CONTRACTS[circuit] ?? "")
    .replaceAll("@CIRCUIT@", circuit)
    .replaceAll("@SET@", set);
  const source = await zKey.exportSolidityVerifier(artifactPaths(circuit).zkey, { groth16: template });
  const path = verifierPath(circuit) ?? "";
  return prettier.format(source, { ...(await prettier.resolveConfig(path)), filepath: path });
}

/** Exports one verifier into contracts/verifiers; with `check` it is compared instead and VERIFIER_STALE names it. */
export async function exportVerifier(circuit: CircuitName, set: string, check: boolean): Promise<void> {
  const path = verifierPath(circuit);
  if (path === undefined) return;
  const source = await renderVerifier(circuit, set);
  if (!check) writeIfChanged(path, source);
  else if (!existsSync(path) || readFileSync(path, "utf8") !== source)
    throw new CommandError(
      "VERIFIER_STALE",
      `${relative(root, path)} is not the export of this tree's ${circuit} key: run npm run setup:dev, never edit it`,
    );
}
