import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import prettier from "prettier";
import { zKey } from "snarkjs";
import { verifierName } from "../../../ignition/support/verifier-name.ts";
import type { Transcript } from "../../ceremony/transcript-schema.ts";
import { sha256File, writeIfChanged } from "../../circuits/files.ts";
import { artifactPaths, type CircuitName, root } from "../../circuits/paths.ts";
import { CommandError } from "../../lib/command.ts";
import { ceremonyFile } from "../sets.ts";

/** The circuits whose proofs the chain checks. The amount proof goes to the service and the resource server only. */
const CONTRACTS: Partial<Record<CircuitName, Parameters<typeof verifierName>[0]>> = {
  payment: "Payment",
  withdrawal: "Withdrawal",
  note_append: "NoteAppend",
};

export const DEVELOPMENT_SET = "development";
const CONTRACTS_FOLDER = join(root, "contracts");

/** The path of a circuit's exported verifier, if it has one. Each ceremony has a separate folder. */
export function verifierPath(circuit: CircuitName, set: string = DEVELOPMENT_SET): string | undefined {
  const name = CONTRACTS[circuit];
  const folders = set === DEVELOPMENT_SET ? [] : set.split("/");
  return name === undefined
    ? undefined
    : join(CONTRACTS_FOLDER, "verifiers", ...folders, `${verifierName(name, set)}.sol`);
}

/**
 * A verifier exported by snarkjs with our template, formatted like every other contract; undefined for a circuit whose
 * proofs no contract checks.
 */
export async function renderVerifier(circuit: CircuitName, set: string, zkey: string): Promise<string | undefined> {
  const path = verifierPath(circuit, set);
  if (path === undefined) return undefined;
  const development = set === DEVELOPMENT_SET;
  const template = readFileSync(new URL("./verifier.sol.ejs", import.meta.url), "utf8")
    .replaceAll("@NAME@", CONTRACTS[circuit] ?? "")
    .replaceAll("@CONTRACT@", basename(path, ".sol"))
    .replaceAll("@CIRCUIT@", circuit)
    .replaceAll("@SET@", set)
    .replaceAll("@UP@", `${relative(dirname(path), CONTRACTS_FOLDER)}/`)
    .replaceAll("@LOCK@", development ? "circuits/artifacts.lock.json" : `circuits/${ceremonyFile(set)}`)
    .replaceAll("@TOOL@", development ? "setup" : "ceremony");
  const source = await zKey.exportSolidityVerifier(readFileSync(zkey), { groth16: template });
  return prettier.format(source, { ...(await prettier.resolveConfig(path)), filepath: path });
}

/**
 * Compares the tree's verifiers of a ceremony with the hashes in its transcript, because a review would not notice a
 * changed line among the exported constants.
 * @throws CommandError VERIFIER_STALE
 */
export function assertVerifiers(
  { set, final = {} }: Pick<Transcript, "set" | "final">,
  place: typeof verifierPath = verifierPath,
): void {
  for (const [name, { verifier }] of Object.entries(final)) {
    const path = place(name as CircuitName, set);
    if (path !== undefined && (!existsSync(path) || sha256File(path) !== verifier))
      throw new CommandError("VERIFIER_STALE", `${relative(root, path)} is missing, or is not the verifier of ${set}`);
  }
}

/** Exports a verifier into contracts/verifiers; with `check` it compares the file. @throws CommandError VERIFIER_STALE */
export async function exportVerifier(
  circuit: CircuitName,
  set: string,
  check: boolean,
  path = verifierPath(circuit, set),
): Promise<void> {
  if (path === undefined) return;
  const source = (await renderVerifier(circuit, set, artifactPaths(circuit).zkey)) ?? "";
  if (!check) writeIfChanged(path, source);
  else if (!existsSync(path) || readFileSync(path, "utf8") !== source)
    throw new CommandError(
      "VERIFIER_STALE",
      `${relative(root, path)} does not match this tree's ${circuit} key; run npm run circuits:build`,
    );
}
