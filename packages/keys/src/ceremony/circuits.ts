// Checks that a ceremony is for this tree's circuits.

import { CommandError } from "@sotto/command/command";
import { type CircuitName, circuitNames } from "../circuits/paths.ts";
import type { Transcript } from "../sets/transcript-schema.ts";
import { assertLocked, lockedFiles, readLock } from "../setup/lock.ts";
import { assertVerifiers } from "../verifiers/export.ts";

/** Compares the compiled circuits with circuits/artifacts.lock.json. @throws CommandError ARTIFACT_CHANGED */
export function assertCompiled(): void {
  const compiled = (name: CircuitName) => lockedFiles(name).filter(([kind]) => kind === "r1cs" || kind === "wasm");
  assertLocked(circuitNames, readLock(), compiled);
}

/**
 * Checks that the keys are for this tree's circuits, and that this tree's Solidity verifiers are for these keys. Valid keys
 * of another circuit could prove less.
 * @throws CommandError CIRCUIT_DIFFERS, VERIFIER_STALE
 */
export function assertCircuitsMatch(transcript: Pick<Transcript, "set" | "final">): void {
  const { final = {} } = transcript;
  const { circuits } = readLock();
  // A ceremony that is not finished has no keys yet, and the caller says so.
  const added = transcript.final === undefined ? [] : circuitNames.filter((name) => final[name] === undefined);
  if (added.length > 0)
    throw new CommandError(
      "CIRCUIT_DIFFERS",
      `${added.join(", ")}: added after the ceremony; check out the commit with the ceremony's circuits`,
    );
  for (const [name, files] of Object.entries(final))
    for (const kind of ["r1cs", "wasm"] as const)
      if (files[kind] !== circuits[name as CircuitName]?.[kind])
        throw new CommandError(
          "CIRCUIT_DIFFERS",
          `${name}: the ${kind} differs from circuits/artifacts.lock.json; check out the commit with the ceremony's circuits`,
        );
  assertVerifiers(transcript);
}
