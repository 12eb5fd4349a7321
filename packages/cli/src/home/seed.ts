import { seedFromWords, wordsFromSeed } from "@sotto/client";
import { hexToBytes, randomSeed } from "@sotto/protocol";
import { CliError } from "../frame/errors.ts";
import type { Environment } from "../frame/output.ts";
import { readKeyFile, writePrivate } from "./files.ts";
import type { Home } from "./home.ts";

/** 24 words, or 32 bytes as hex. @throws CliError, SottoError that name the place and never the value */
export function parseSeed(text: string, where: string): Uint8Array {
  const value = text.trim();
  try {
    return value.startsWith("0x") ? hexToBytes(value, 32, "the seed") : seedFromWords(value);
  } catch {
    // The parser's own message names the position of a word, but the value may be hex: it stays unsaid altogether.
    throw new CliError("KEY_MISSING", `${where} holds no seed: expected 24 words, or 32 bytes as hex with 0x`);
  }
}

/**
 * The wallet's seed: SOTTO_SEED where it is set, else the key file.
 * @throws CliError KEY_MISSING, KEY_FILE_UNSAFE
 */
export function readSeed(home: Home, environment: Environment): Uint8Array {
  const given = environment["SOTTO_SEED"];
  if (given !== undefined && given !== "") return parseSeed(given, "SOTTO_SEED");
  const text = readKeyFile(home.key);
  if (text === undefined)
    throw new CliError("KEY_MISSING", `there is no key: neither SOTTO_SEED nor ${home.key}; \`sotto init\` makes one`);
  return parseSeed(text, home.key);
}

/** Writes a new key file. @throws CliError FILE_EXISTS: a key is never replaced */
export function writeSeed(home: Home, seed: Uint8Array): void {
  writePrivate(home.key, `${wordsFromSeed(seed)}\n`, false);
}

export const newSeed = randomSeed;
