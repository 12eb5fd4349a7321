import { existsSync, readdirSync } from "node:fs";
import type { Config } from "../config/config.ts";
import { addKey } from "./add-key.ts";
import { type KeySource, keysOfFolder, keysOfText } from "./keys.ts";

/** Reads keys from the setting or the folder. On a local chain, a first key is created in an empty folder. */
export async function keySource({ tokenKey, tokenKeys, local }: Config): Promise<KeySource> {
  if (tokenKey !== undefined) {
    const keys = await keysOfText(tokenKey, "SOTTO_TOKEN_KEY");
    return async () => keys;
  }
  const empty = !existsSync(tokenKeys) || !readdirSync(tokenKeys).some((name) => name.endsWith(".json"));
  if (local && empty) await addKey(tokenKeys);
  return () => keysOfFolder(tokenKeys);
}
