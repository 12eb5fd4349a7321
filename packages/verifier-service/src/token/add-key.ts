import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exportJWK, generateKeyPair } from "jose";
import { ALGORITHM } from "./keys.ts";

/** Adds a key to a folder. It signs as soon as the service reads the folder again. @returns the file */
export async function addKey(folder: string, now: Date = new Date()): Promise<string> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { crv: "Ed25519", extractable: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${now.toISOString().replace(/[-:.]/g, "")}.json`);
  // wx: never overwrites a key.
  writeFileSync(path, `${JSON.stringify(await exportJWK(privateKey))}\n`, { mode: 0o600, flag: "wx" });
  return path;
}
