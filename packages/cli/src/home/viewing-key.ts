import { deriveKeys } from "@sotto/protocol";
import type { Context } from "../frame/command.ts";
import { CliError } from "../frame/errors.ts";
import { readKeyFile } from "./files.ts";
import { readSeed } from "./seed.ts";

/** What reads all that an address received, and spends nothing. */
export interface ViewingKey {
  viewingKey: bigint;
  shieldedAddress: string;
}

/** The text of a viewing key, for a file of mode 0600 or SOTTO_VIEWING_KEY. */
export function viewingKeyText({ viewingKey, shieldedAddress }: ViewingKey): string {
  const hex = `0x${viewingKey.toString(16).padStart(64, "0")}`;
  return JSON.stringify({ type: "sotto-viewing-key", version: 1, viewingKey: hex, shieldedAddress });
}

function parse(text: string, where: string): ViewingKey {
  try {
    const { type, version, viewingKey, shieldedAddress } = Object(JSON.parse(text)) as Record<string, unknown>;
    const right = type === "sotto-viewing-key" && version === 1 && typeof shieldedAddress === "string";
    if (right && typeof viewingKey === "string" && /^0x[0-9a-f]{64}$/.test(viewingKey))
      return { viewingKey: BigInt(viewingKey), shieldedAddress };
  } catch {
    // Falls through: what a key file holds is in no message.
  }
  throw new CliError("KEY_MISSING", `${where} holds no viewing key; \`sotto export --viewing-key\` makes one`);
}

/**
 * The viewing key of a file, of SOTTO_VIEWING_KEY (the same JSON), or of this wallet's seed.
 * @throws CliError KEY_MISSING, KEY_FILE_UNSAFE
 */
export function viewingKeyOf({ home, environment }: Context, file: string | undefined): ViewingKey {
  if (file !== undefined) {
    const text = readKeyFile(file);
    if (text === undefined) throw new CliError("KEY_MISSING", `there is no file ${file}`);
    return parse(text, file);
  }
  const given = environment["SOTTO_VIEWING_KEY"];
  if (given !== undefined && given !== "") return parse(given, "SOTTO_VIEWING_KEY");
  const keys = deriveKeys(readSeed(home, environment));
  return { viewingKey: keys.viewingKey, shieldedAddress: keys.shieldedAddress() };
}
