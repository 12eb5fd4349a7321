import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createVerifier, type Verifier } from "@sotto/prover";
import { ServiceError } from "../errors/errors.ts";

/** Tells proofs made with the keys of another set from proofs that are wrong. */
export interface RetiredKeys {
  /** Whether the proof holds under a key this circuit once had. */
  accepts(circuit: string, proof: readonly string[], signals: readonly string[]): Promise<boolean>;
}

/**
 * @param folders each laid out like the artifacts': NAME/NAME.vkey.json
 * @throws ServiceError INVALID_CONFIG; ProverError VERIFICATION_KEY_INVALID
 */
export function openRetiredKeys(folders: readonly string[]): RetiredKeys {
  const verifiers: { readonly circuits: ReadonlySet<string>; readonly verifier: Verifier }[] = folders.map((folder) => {
    const vkeys = readKeys(folder);
    return { circuits: new Set(Object.keys(vkeys)), verifier: createVerifier({ vkeys }) };
  });
  return {
    async accepts(circuit, proof, signals) {
      for (const { circuits, verifier } of verifiers) {
        // A key for another number of signals is of another version of the circuit: it cannot hold.
        if (circuits.has(circuit) && (await verifier.verify(circuit, proof, signals).catch(() => false))) return true;
      }
      return false;
    },
  };
}

function readKeys(folder: string): Record<string, unknown> {
  const keys: Record<string, unknown> = {};
  try {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name, `${name}.vkey.json`);
      if (statSync(path, { throwIfNoEntry: false })?.isFile()) keys[name] = JSON.parse(readFileSync(path, "utf8"));
    }
  } catch (cause) {
    throw new ServiceError("INVALID_CONFIG", `SOTTO_OTHER_KEYS: ${folder} cannot be read`, { folder }, { cause });
  }
  if (Object.keys(keys).length > 0) return keys;
  throw new ServiceError("INVALID_CONFIG", `SOTTO_OTHER_KEYS: ${folder} holds no NAME/NAME.vkey.json`, { folder });
}
