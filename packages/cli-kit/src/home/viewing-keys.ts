import {
  deriveKeys,
  MAX_VIEWING_KEYS_LENGTH,
  parseViewingKeys,
  SottoError,
  type ViewingKeys,
  type WalletKeys,
} from "@sotto/protocol";
import { CliError } from "../frame/errors.ts";
import type { Environment } from "../frame/output.ts";
import { type Config, readConfig } from "./config.ts";
import { readKeyFile } from "./files.ts";
import type { Home } from "./home.ts";
import { readSeed } from "./seed.ts";

interface KeyContext {
  readonly home: Home;
  readonly environment: Environment;
}

/** The keys of this wallet. @throws CliError KEY_MISSING, KEY_FILE_UNSAFE, CONFIG_INVALID */
export const walletKeysOf = ({ home, environment }: KeyContext): WalletKeys =>
  deriveKeys(readSeed(home, environment), readConfig(home));

function parse(text: string, where: string, expected: Pick<Config, "chainId" | "pool">): ViewingKeys {
  try {
    return parseViewingKeys(text, expected);
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    const remedy = "write one with `sotto view-key`";
    throw new CliError("KEY_MISSING", `${where}: ${cause.message}; ${remedy}`, {}, { cause });
  }
}

/** Reads a file of viewing keys. @throws CliError KEY_MISSING, KEY_FILE_UNSAFE */
export function readViewingKeys({ home }: KeyContext, file: string): ViewingKeys {
  const text = readKeyFile(file, MAX_VIEWING_KEYS_LENGTH);
  if (text === undefined) throw new CliError("KEY_MISSING", `${file} does not exist; check the path`);
  return parse(text, file, readConfig(home));
}

/**
 * The viewing keys from a file or from SOTTO_VIEWING_KEY (the same JSON).
 * @returns undefined if neither is given
 * @throws CliError KEY_MISSING, KEY_FILE_UNSAFE
 */
export function givenViewingKeys(context: KeyContext, file: string | undefined): ViewingKeys | undefined {
  if (file !== undefined) return readViewingKeys(context, file);
  const given = context.environment["SOTTO_VIEWING_KEY"];
  if (given === undefined || given === "") return undefined;
  return parse(given, "SOTTO_VIEWING_KEY", readConfig(context.home));
}
