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
 * The keys that are configured. On a local chain, where none are, some that are made and kept beside the database: a
 * database in memory needs none for longer than itself.
 * @throws ServerError INVALID_CONFIG
 */
export function keysFor({ keys, local, keyFile, store }: PhoneConfig): RegistryKeys {
  if (keys !== undefined) return keys;
  if (!local) throw new ServerError("INVALID_CONFIG", "the registry's keys are missing");
  if (store === "sqlite::memory:") return ringsOf(fresh());
  if (!existsSync(keyFile)) {
    mkdirSync(dirname(keyFile), { recursive: true });
    writeFileSync(keyFile, `${JSON.stringify(fresh(), null, 2)}\n`, { mode: 0o600, flag: "wx" });
  }
  try {
    return ringsOf(JSON.parse(readFileSync(keyFile, "utf8")));
  } catch {
    throw new ServerError("INVALID_CONFIG", `SOTTO_PHONE_KEYS names a file without keys: ${keyFile}`);
  }
}
