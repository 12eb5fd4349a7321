import { hexToBytes, randomSeed, trimPasted } from "@sotto/protocol";
import { seedFromWords, wordsFromSeed } from "@sotto/wallet";
import { CliError } from "../frame/errors.ts";
import type { Environment } from "../frame/output.ts";
import { readKeyFile, writePrivate } from "./files.ts";
import type { Home } from "./home.ts";

/** Parses 24 words, or 32 bytes as hex. @throws CliError KEY_MISSING, which never contains the value */
export function parseSeed(text: string, where: string): Uint8Array {
  const value = trimPasted(text);
  try {
    return value.startsWith("0x") ? hexToBytes(value, 32, "the seed") : seedFromWords(value);
  } catch {
    // The parser's message would be wrong for a hex value.
    throw new CliError("KEY_MISSING", `${where} has no seed: expected 24 words, or 0x and 64 hex digits`);
  }
}

/**
 * The wallet's seed: SOTTO_SEED if it is set, else the key file.
 * @throws CliError KEY_MISSING, KEY_FILE_UNSAFE
 */
export function readSeed(home: Home, environment: Environment): Uint8Array {
  const given = environment["SOTTO_SEED"];
  if (given !== undefined && given !== "") return parseSeed(given, "SOTTO_SEED");
  const text = readKeyFile(home.key);
  if (text === undefined)
    throw new CliError(
      "KEY_MISSING",
      `the wallet has no key: neither SOTTO_SEED nor ${home.key} exists; create one with \`sotto init\``,
    );
  return parseSeed(text, home.key);
}

/** Writes the key file. @throws CliError FILE_EXISTS, because a key is never replaced */
export function writeSeed(home: Home, seed: Uint8Array): void {
  writePrivate(home.key, `${wordsFromSeed(seed)}\n`, false);
}

export const newSeed = randomSeed;
