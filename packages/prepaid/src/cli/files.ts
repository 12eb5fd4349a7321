import { CliError, readKeyFile, readText, writePrivate } from "@sotto/cli-kit";
import { SottoError } from "@sotto/protocol";
import {
  decodePrepaidKeyFile,
  decodeSchedule,
  decodeSignedSchedule,
  encodePrepaidKeyFile,
  encodeSchedule,
  encodeSignedSchedule,
  MAX_PREPAID_KEY_FILE_BYTES,
  MAX_SIGNED_SCHEDULE_BYTES,
  type PrepaidKeyFile,
  type PrepaidSchedule,
  type SignedSchedule,
} from "../index.ts";

/** Parses a file's JSON. Errors contain no part of it. @throws CliError FILE_UNREADABLE */
function parsed<T>(text: string, path: string, decode: (json: unknown) => T): T {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new CliError("FILE_UNREADABLE", `${path} is not JSON`);
  }
  try {
    return decode(json);
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw new CliError("FILE_UNREADABLE", `${path}: ${cause.message}`, {}, { cause });
  }
}

const written = (json: object): string => `${JSON.stringify(json, null, 2)}\n`;

/** Reads keys.json. @returns undefined if it does not exist @throws CliError KEY_FILE_UNSAFE, FILE_UNREADABLE */
export function readKeys(path: string): PrepaidKeyFile | undefined {
  const text = readKeyFile(path, MAX_PREPAID_KEY_FILE_BYTES);
  return text === undefined ? undefined : parsed(text, path, decodePrepaidKeyFile);
}

/** Writes keys.json, which is never replaced. @throws CliError FILE_EXISTS, FILE_UNREADABLE */
export const writeKeys = (path: string, file: PrepaidKeyFile): void =>
  writePrivate(path, written(encodePrepaidKeyFile(file)), false);

/** Reads a schedule, signed or not. @throws CliError FILE_UNREADABLE */
export const readSchedule = (path: string): PrepaidSchedule =>
  parsed(readText(path, MAX_SIGNED_SCHEDULE_BYTES), path, (json) =>
    decodeSchedule((Object(json) as { schedule?: unknown }).schedule),
  );

/** @throws CliError FILE_EXISTS, FILE_UNREADABLE */
export const writeSchedule = (path: string, schedule: PrepaidSchedule): void =>
  writePrivate(path, written({ schedule: encodeSchedule(schedule) }), false);

/** Reads a signed schedule. Does not check the signature. @throws CliError FILE_UNREADABLE */
export const readSignedSchedule = (path: string): SignedSchedule =>
  parsed(readText(path, MAX_SIGNED_SCHEDULE_BYTES), path, decodeSignedSchedule);

/** @throws CliError FILE_EXISTS, FILE_UNREADABLE */
export const writeSignedSchedule = (path: string, signed: SignedSchedule): void =>
  writePrivate(path, written(encodeSignedSchedule(signed)), false);
