import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { EngineError } from "../engine/index.ts";
import { ServiceError } from "../errors.ts";
import type { ProofVerifier } from "../ports.ts";

/** Tells proofs made with the keys of another set from proofs that are wrong. */
export interface RetiredKeys {
  /** Whether the proof holds under a key this circuit once had. Rejects where nothing can be verified now. */
  accepts(circuit: string, proof: readonly string[], signals: readonly string[]): Promise<boolean>;
}

/** A name for the engine, which no circuit of the set in use has. */
const nameOf = (circuit: string, folder: number | string): string => `${circuit}@${folder}`;

/**
 * @param folders each laid out like the artifacts': NAME/NAME.vkey.json
 * @returns the keys by the names under which `retiredKeys` asks for them
 * @throws ServiceError INVALID_CONFIG
 */
export function readRetiredKeys(folders: readonly string[]): Record<string, unknown> {
  const keys = folders.map((folder, index) =>
    Object.entries(readKeys(folder)).map(([circuit, key]) => [nameOf(circuit, index), key] as const),
  );
  return Object.fromEntries(keys.flat());
}

/** @param proofs verifies under `keys` as well, those of `readRetiredKeys` */
export function retiredKeys(proofs: ProofVerifier, keys: Readonly<Record<string, unknown>>): RetiredKeys {
  // A key for another number of signals is of another version of the circuit: it cannot hold.
  const holds = (...statement: Parameters<ProofVerifier["verify"]>) =>
    proofs.verify(...statement).catch((error: unknown) => {
      if (error instanceof EngineError) throw error;
      return false;
    });
  return {
    async accepts(circuit, proof, signals) {
      const names = Object.keys(keys).filter((name) => name.startsWith(nameOf(circuit, "")));
      for (const name of names) if (await holds(name, proof, signals)) return true;
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
