/**
 * The known sets of keys: one for development, and one for each ceremony. Files of different sets never mix, because each
 * file must have the hash in the requested set's lock.
 */
import { proverError } from "../errors.ts";
import { ARTIFACTS_LOCK, CEREMONY_LOCKS } from "../generated/artifacts-lock.ts";
import type { ArtifactsLock } from "./lock.ts";

const LOCKS: readonly ArtifactsLock[] = [ARTIFACTS_LOCK, ...CEREMONY_LOCKS];

/** Names of the sets whose locks are compiled in. */
export const ARTIFACT_SETS: readonly string[] = /* @__PURE__ */ LOCKS.map(({ set }) => set);

/** The lock of a set. @throws SottoError ARTIFACT_SET_UNKNOWN */
export function lockOf(set: string): ArtifactsLock {
  const lock = LOCKS.find((known) => known.set === set);
  if (lock !== undefined) return lock;
  const known = ARTIFACT_SETS.join(", ");
  throw proverError("ARTIFACT_SET_UNKNOWN", `No set of keys ${JSON.stringify(set)} is known here, only ${known}.`, {
    set: String(set),
    known,
  });
}
