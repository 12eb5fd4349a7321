import { deriveKeys } from "@sotto/protocol";
import type { Context } from "../command.ts";
import { CliError } from "../frame/errors.ts";
import { type Config, readConfig } from "./config.ts";
import { readKeyFile } from "./files.ts";
import { readSeed } from "./seed.ts";

/** Reads all that an address received in one pool, and spends nothing. */
export interface ViewingKey {
  viewingKey: bigint;
  shieldedAddress: string;
}

/** The pool that a viewing key is for. */
type Place = Pick<Config, "chainId" | "pool">;

/** The text of a viewing key, for a file of mode 0600 or SOTTO_VIEWING_KEY. */
export function viewingKeyText({ viewingKey, shieldedAddress }: ViewingKey, { chainId, pool }: Place): string {
  const hex = `0x${viewingKey.toString(16).padStart(64, "0")}`;
  const fields = { viewingKey: hex, shieldedAddress, chainId: String(chainId), pool };
  return JSON.stringify({ type: "sotto-viewing-key", version: 1, ...fields });
}

function parse(text: string, where: string, place: Place): ViewingKey {
  let fields: Record<string, unknown> = {};
  try {
    fields = Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    // Refused below. The message says nothing of what the file holds.
  }
  const { type, version, viewingKey, shieldedAddress, chainId, pool } = fields;
  const right = type === "sotto-viewing-key" && version === 1 && typeof shieldedAddress === "string";
  if (!right || typeof viewingKey !== "string" || !/^0x[0-9a-f]{64}$/.test(viewingKey))
    throw new CliError("KEY_MISSING", `${where} holds no viewing key; \`sotto export --viewing-key\` makes one`);
  if (chainId !== String(place.chainId) || pool !== place.pool)
    throw new CliError(
      "KEY_MISSING",
      `${where} holds a viewing key for another pool, expected one for ${place.pool} on chain ${place.chainId}`,
    );
  return { viewingKey: BigInt(viewingKey), shieldedAddress };
}

/**
 * The viewing key of a file, of SOTTO_VIEWING_KEY (the same JSON), or of this wallet's seed.
 * @throws CliError KEY_MISSING, KEY_FILE_UNSAFE
 */
export function viewingKeyOf({ home, environment }: Context, file: string | undefined): ViewingKey {
  const config = readConfig(home);
  if (file !== undefined) {
    const text = readKeyFile(file);
    if (text === undefined) throw new CliError("KEY_MISSING", `there is no file ${file}`);
    return parse(text, file, config);
  }
  const given = environment["SOTTO_VIEWING_KEY"];
  if (given !== undefined && given !== "") return parse(given, "SOTTO_VIEWING_KEY", config);
  const keys = deriveKeys(readSeed(home, environment), config);
  return { viewingKey: keys.viewingKey, shieldedAddress: keys.shieldedAddress() };
}
