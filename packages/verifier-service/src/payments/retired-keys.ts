import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ServiceError } from "../errors.ts";
import type { ProofVerifier } from "../ports.ts";

/** Codes that mean the engine cannot verify now. Any other error means that the proof does not belong to the key. */
const UNAVAILABLE: readonly unknown[] = ["ENGINE_OVERLOADED", "ENGINE_FAILED", "ENGINE_CLOSED"];

/** Distinguishes proofs made with the keys of a retired set from invalid proofs. */
export interface RetiredKeys {
  /** Whether the proof is valid under an earlier key of this circuit. Rejects if the engine cannot verify now. */
  accepts(...statement: Parameters<ProofVerifier["verify"]>): Promise<boolean>;
}

/** The engine's name for an earlier key, distinct from all circuits of the current set. */
const nameOf = (circuit: string, folder: number | string): string => `${circuit}@${folder}`;

/**
 * @param folders each with files NAME/NAME.vkey.json, like the artifacts
 * @returns the keys by the engine's names for them
 * @throws ServiceError INVALID_CONFIG
 */
export function readRetiredKeys(folders: readonly string[]): Record<string, unknown> {
  const keys = folders.map((folder, index) =>
    Object.entries(readKeys(folder)).map(([circuit, key]) => [nameOf(circuit, index), key] as const),
  );
  return Object.fromEntries(keys.flat());
}

/** @param proofs an engine that also has `keys`, which `readRetiredKeys` returned */
export function retiredKeys(proofs: ProofVerifier, keys: Readonly<Record<string, unknown>>): RetiredKeys {
  // A key for another number of signals belongs to another version of the circuit, so the proof is not valid under it.
  const holds = (...statement: Parameters<ProofVerifier["verify"]>) =>
    proofs.verify(...statement).catch((error: unknown) => {
      if (UNAVAILABLE.includes(Object(error).code)) throw error;
      return false;
    });
  return {
    async accepts(circuit, ...statement) {
      const names = Object.keys(keys).filter((name) => name.startsWith(nameOf(circuit, "")));
      for (const name of names) if (await holds(name, ...statement)) return true;
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
  throw new ServiceError("INVALID_CONFIG", `SOTTO_OTHER_KEYS: ${folder} contains no NAME/NAME.vkey.json`, { folder });
}
