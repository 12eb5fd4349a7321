import { deriveKeys, parseViewingKeys, SottoError, type ViewingKeys } from "@sotto/protocol";
import { CliError } from "../frame/errors.ts";
import type { Environment } from "../frame/output.ts";
import { type Config, readConfig } from "./config.ts";
import { readKeyFile } from "./files.ts";
import type { Home } from "./home.ts";
import { readSeed } from "./seed.ts";

function parse(text: string, where: string, expected: Pick<Config, "chainId" | "pool">): ViewingKeys {
  try {
    return parseViewingKeys(text, expected);
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    const remedy = "export one with `sotto export --viewing-key`";
    throw new CliError("KEY_MISSING", `${where}: ${cause.message}; ${remedy}`, {}, { cause });
  }
}

/**
 * The viewing key from a file or from SOTTO_VIEWING_KEY (the same JSON), or derived from this wallet's seed.
 * @throws CliError KEY_MISSING, KEY_FILE_UNSAFE
 */
export function viewingKeysOf(
  { home, environment }: { readonly home: Home; readonly environment: Environment },
  file: string | undefined,
): ViewingKeys {
  const config = readConfig(home);
  if (file !== undefined) {
    const text = readKeyFile(file);
    if (text === undefined) throw new CliError("KEY_MISSING", `${file} does not exist`);
    return parse(text, file, config);
  }
  const given = environment["SOTTO_VIEWING_KEY"];
  if (given !== undefined && given !== "") return parse(given, "SOTTO_VIEWING_KEY", config);
  const keys = deriveKeys(readSeed(home, environment), config);
  const lasting = { viewingKey: keys.viewingKey, shieldedAddress: keys.shieldedAddress() };
  return { ownerTag: keys.ownerTag(0), keys: [lasting] };
}
