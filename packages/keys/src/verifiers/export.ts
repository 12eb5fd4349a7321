import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { CommandError } from "@sotto/command/command";
import prettier from "prettier";
import { zKey } from "snarkjs";
import { sha256, sha256File, writeIfChanged } from "../circuits/files.ts";
import { artifactPaths, type CircuitName, packageVersion, root } from "../circuits/paths.ts";
import { isFresh, writeStamp } from "../circuits/stamp.ts";
import { ceremonyFile } from "../sets/sets.ts";
import type { Transcript } from "../sets/transcript-schema.ts";
import { verifierName } from "./verifier-name.ts";

/** The circuits whose proofs the chain checks. The amount proof goes to the service and the resource server only. */
const CONTRACTS: Partial<Record<CircuitName, Parameters<typeof verifierName>[0]>> = {
  payment: "Payment",
  withdrawal: "Withdrawal",
  note_append: "NoteAppend",
};

export const DEVELOPMENT_SET = "development";
const CONTRACTS_FOLDER = join(root, "contracts");
export const VERIFIER_TEMPLATE = fileURLToPath(new URL("./verifier.sol.ejs", import.meta.url));

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
export async function renderVerifier(
  circuit: CircuitName,
  set: string,
  zkey: string,
  templatePath = VERIFIER_TEMPLATE,
): Promise<string | undefined> {
  const path = verifierPath(circuit, set);
  if (path === undefined) return undefined;
  const development = set === DEVELOPMENT_SET;
  const template = readFileSync(templatePath, "utf8")
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

/** Compares a verifier with the export of this tree's key. @throws CommandError VERIFIER_STALE */
export async function assertVerifier(
  circuit: CircuitName,
  set: string,
  path = verifierPath(circuit, set),
): Promise<void> {
  if (path === undefined) return;
  const source = await renderVerifier(circuit, set, artifactPaths(circuit).zkey);
  if (!existsSync(path) || readFileSync(path, "utf8") !== source)
    throw new CommandError(
      "VERIFIER_STALE",
      `${relative(root, path)} does not match this tree's ${circuit} key; run npm run circuits:build`,
    );
}

/** Hash of everything an exported verifier depends on: the key, the template, this code and its libraries. */
function inputHash(circuit: CircuitName, set: string, template: string): string {
  const files = [artifactPaths(circuit).vkey, template, fileURLToPath(import.meta.url), join(root, ".prettierrc")];
  const versions = ["snarkjs", "prettier", "prettier-plugin-solidity"].map(packageVersion);
  return sha256(JSON.stringify([circuit, set, ...versions, ...files.map(sha256File)]));
}

/**
 * Exports a verifier of this tree's key, unless the file is the last export of the same key by the same template and code.
 * @returns whether it exported the verifier
 */
export async function exportVerifier(
  circuit: CircuitName,
  set: string,
  path = verifierPath(circuit, set),
  { stamp = join(artifactPaths(circuit).folder, ".exported"), template = VERIFIER_TEMPLATE } = {},
): Promise<boolean> {
  if (path === undefined) return false;
  const inputs = inputHash(circuit, set, template);
  if (isFresh(stamp, inputs, [path])) return false;
  const source = await renderVerifier(circuit, set, artifactPaths(circuit).zkey, template);
  if (source !== undefined) writeIfChanged(path, source);
  writeStamp(stamp, inputs, [path]);
  return true;
}
