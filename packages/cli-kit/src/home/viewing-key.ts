import { deriveKeys, trimPasted } from "@sotto/protocol";
import { CliError } from "../frame/errors.ts";
import type { Environment } from "../frame/output.ts";
import { type Config, readConfig } from "./config.ts";
import { readKeyFile } from "./files.ts";
import type { Home } from "./home.ts";
import { readSeed } from "./seed.ts";

/** A key that shows everything an address receives in one pool, and cannot spend it. */
export interface ViewingKey {
  viewingKey: bigint;
  shieldedAddress: string;
}

/** The pool that a viewing key belongs to. */
type PoolId = Pick<Config, "chainId" | "pool">;

/** The JSON of a viewing key, for a file or SOTTO_VIEWING_KEY. */
export function viewingKeyText({ viewingKey, shieldedAddress }: ViewingKey, { chainId, pool }: PoolId): string {
  const hex = `0x${viewingKey.toString(16).padStart(64, "0")}`;
  const fields = { viewingKey: hex, shieldedAddress, chainId: String(chainId), pool };
  return JSON.stringify({ type: "sotto-viewing-key", version: 1, ...fields });
}

function parse(text: string, where: string, expected: PoolId): ViewingKey {
  let fields: Record<string, unknown> = {};
  try {
    fields = Object(JSON.parse(trimPasted(text))) as Record<string, unknown>;
  } catch {
    // Rejected below, with a message that does not contain the text.
  }
  const { type, version, viewingKey, shieldedAddress, chainId, pool } = fields;
  const valid = type === "sotto-viewing-key" && version === 1 && typeof shieldedAddress === "string";
  if (!valid || typeof viewingKey !== "string" || !/^0x[0-9a-f]{64}$/.test(viewingKey))
    throw new CliError("KEY_MISSING", `${where} is not a viewing key; export one with \`sotto export --viewing-key\``);
  if (chainId !== String(expected.chainId) || pool !== expected.pool)
    throw new CliError(
      "KEY_MISSING",
      `${where} is a viewing key for another pool, expected ${expected.pool} on chain ${expected.chainId}`,
    );
  return { viewingKey: BigInt(viewingKey), shieldedAddress };
}

/**
 * The viewing key from a file or from SOTTO_VIEWING_KEY (the same JSON), or derived from this wallet's seed.
 * @throws CliError KEY_MISSING, KEY_FILE_UNSAFE
 */
export function viewingKeyOf(
  { home, environment }: { readonly home: Home; readonly environment: Environment },
  file: string | undefined,
): ViewingKey {
  const config = readConfig(home);
  if (file !== undefined) {
    const text = readKeyFile(file);
    if (text === undefined) throw new CliError("KEY_MISSING", `${file} does not exist`);
    return parse(text, file, config);
  }
  const given = environment["SOTTO_VIEWING_KEY"];
  if (given !== undefined && given !== "") return parse(given, "SOTTO_VIEWING_KEY", config);
  const keys = deriveKeys(readSeed(home, environment), config);
  return { viewingKey: keys.viewingKey, shieldedAddress: keys.shieldedAddress() };
}
