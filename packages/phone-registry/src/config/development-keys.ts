import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { ServerError } from "@sotto/server";
import type { RegistryKeys } from "../crypto/keys.ts";
import { keyRing, newKey } from "./parse.ts";
import type { PhoneConfig } from "./phone-config.ts";

const fresh = () => ({ master: newKey("development"), index: newKey("development") });
const ringsOf = ({ master, index }: { readonly master: string; readonly index: string }): RegistryKeys => ({
  master: keyRing(master),
  index: keyRing(index),
});

/**
 * Returns the configured keys. If there are none, on a local chain, it creates keys and stores them in `keyFile`; a database in
 * memory gets new keys each time.
 * @throws ServerError INVALID_CONFIG
 */
export function keysFor({ keys, local, keyFile, store }: PhoneConfig): RegistryKeys {
  if (keys !== undefined) return keys;
  if (!local) throw new ServerError("INVALID_CONFIG", "SOTTO_PHONE_MASTER_KEYS and SOTTO_PHONE_INDEX_KEYS are missing");
  if (store === "sqlite::memory:") return ringsOf(fresh());
  if (!existsSync(keyFile)) {
    mkdirSync(dirname(keyFile), { recursive: true });
    writeFileSync(keyFile, `${JSON.stringify(fresh(), null, 2)}\n`, { mode: 0o600, flag: "wx" });
  }
  try {
    return ringsOf(JSON.parse(readFileSync(keyFile, "utf8")));
  } catch {
    throw new ServerError("INVALID_CONFIG", `SOTTO_PHONE_KEYS names a file without valid keys: ${keyFile}`);
  }
}
