/**
 * The lock names a set of keys and the SHA-256 of each of its files. It is compiled in, so a server or a disk can withhold
 * the files but cannot change them. That matters most for the witness generator, which sees the spending key.
 */
import { proverError } from "../errors.ts";
import { DEVELOPMENT_SET } from "./development.ts";

/** The files that a prover needs for a circuit. A lock may name others (r1cs, verifier) for builders and deployers. */
export const ARTIFACT_KINDS = ["wasm", "zkey", "vkey"] as const;
/** The kind of a circuit's file. */
export type ArtifactKind = (typeof ARTIFACT_KINDS)[number];

/** SHA-256 in lower-case hex, 64 digits, of each file of one circuit. */
export type CircuitHashes = { readonly [kind in ArtifactKind]: string } & { readonly [other: string]: string };

/** The hashes of all files of a set. */
export interface ArtifactsLock {
  /** Name of the set of keys; `development` if they are made from a public seed. */
  readonly set: string;
  /** The hashes of each circuit's files, by its name: a to z, 0 to 9 and _, at most 64 characters. */
  readonly circuits: { readonly [circuit: string]: CircuitHashes };
}

const HASH = /^[0-9a-f]{64}$/;
const SET = /^[a-z0-9][a-z0-9-]{0,63}(\/[a-z0-9][a-z0-9-]{0,63})?$/;
const CIRCUIT = /^[a-z][a-z0-9_]{0,63}$/;

/**
 * Checks the structure of a lock.
 * @throws SottoError ARTIFACTS_LOCK_INVALID; the message names the entry and the reason
 */
export function assertLock(lock: unknown): asserts lock is ArtifactsLock {
  const fail = (reason: string): never => {
    throw proverError("ARTIFACTS_LOCK_INVALID", `The artifacts lock is not valid: ${reason}.`, { reason });
  };
  if (!isRecord(lock)) return fail("expected an object");
  if (typeof lock["set"] !== "string" || !SET.test(lock["set"])) return fail(`\`set\` must match ${SET.source}`);
  const circuits = lock["circuits"];
  if (!isRecord(circuits)) return fail("`circuits` must be an object");
  for (const [name, hashes] of Object.entries(circuits)) {
    if (!CIRCUIT.test(name)) return fail(`circuit name ${JSON.stringify(name)} must match ${CIRCUIT.source}`);
    if (!isRecord(hashes)) return fail(`circuit ${name} must be an object of hashes`);
    for (const kind of ARTIFACT_KINDS) {
      const hash = hashes[kind];
      if (typeof hash !== "string" || !HASH.test(hash))
        return fail(`${name}.${kind} must be a SHA-256 of 64 lower-case hex digits`);
    }
  }
}

/** The subfolder of a set: none for the development set, otherwise one with the set's name. */
export function setFolder(set: string): string {
  return set === DEVELOPMENT_SET ? "" : `${set}/`;
}

/**
 * The path of a file below the folder or base URL, such as `payment/payment.zkey` and `payment/payment.vkey.json` in
 * the development set, or `ceremony/autumn-2026/payment/payment.zkey` in another set.
 */
export function artifactPath(set: string, circuit: string, kind: ArtifactKind): string {
  return `${setFolder(set)}${circuit}/${circuit}.${kind === "vkey" ? "vkey.json" : kind}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
