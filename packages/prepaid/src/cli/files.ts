import { CliError, readKeyFile, readText, writePrivate } from "@sotto/cli-kit";
import { SottoError } from "@sotto/protocol";
import { assertList, exactFields } from "../core/metered/fields.ts";
import {
  decodeMeteredRule,
  decodeMeteredTerms,
  decodePrepaidKeyFile,
  decodeReceiptKeyFile,
  decodeSchedule,
  decodeSignedSchedule,
  decodeSignedTerms,
  encodeMeteredTerms,
  encodePrepaidKeyFile,
  encodeReceiptKeyFile,
  encodeSchedule,
  encodeSignedSchedule,
  encodeSignedTerms,
  MAX_METERED_ROUTES,
  MAX_PREPAID_KEY_FILE_BYTES,
  MAX_RECEIPT_KEY_FILE_BYTES,
  MAX_SIGNED_SCHEDULE_BYTES,
  MAX_SIGNED_TERMS_BYTES,
  type MeteredRouteRule,
  type MeteredTerms,
  type PrepaidKeyFile,
  type PrepaidSchedule,
  type ReceiptKeyFile,
  type SignedMeteredTerms,
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

/** Reads receipts.json. @returns undefined if it does not exist @throws CliError KEY_FILE_UNSAFE, FILE_UNREADABLE */
export function readReceiptKeys(path: string): ReceiptKeyFile | undefined {
  const text = readKeyFile(path, MAX_RECEIPT_KEY_FILE_BYTES);
  return text === undefined ? undefined : parsed(text, path, decodeReceiptKeyFile);
}

/**
 * Writes receipts.json.
 * @param replace whether it adds months to the file that stands there
 * @throws CliError FILE_EXISTS, FILE_UNREADABLE
 */
export const writeReceiptKeys = (path: string, file: ReceiptKeyFile, replace: boolean): void =>
  writePrivate(path, written(encodeReceiptKeyFile(file)), replace);

/** Reads the routes of terms with their rules. @throws CliError FILE_UNREADABLE */
export const readRoutes = (path: string): readonly MeteredRouteRule[] =>
  parsed(readText(path, MAX_SIGNED_TERMS_BYTES), path, (json) =>
    assertList(exactFields(json, ["routes"], "the file").routes, 1, MAX_METERED_ROUTES, "routes").map((route) => {
      const { method, path: routePath, rule } = exactFields(route, ["method", "path", "rule"], "a route");
      return { method: method as string, path: routePath as string, rule: decodeMeteredRule(rule) };
    }),
  );

/** Reads terms, signed or not. @throws CliError FILE_UNREADABLE */
export const readTerms = (path: string): MeteredTerms =>
  parsed(readText(path, MAX_SIGNED_TERMS_BYTES), path, (json) =>
    decodeMeteredTerms((Object(json) as { terms?: unknown }).terms),
  );

/** Reads signed terms. Does not check the signature. @throws CliError FILE_UNREADABLE */
export const readSignedTerms = (path: string): SignedMeteredTerms =>
  parsed(readText(path, MAX_SIGNED_TERMS_BYTES), path, decodeSignedTerms);

/** @throws CliError FILE_EXISTS, FILE_UNREADABLE; SottoError INVALID_ARGUMENT */
export const writeTerms = (path: string, terms: MeteredTerms): void =>
  writePrivate(path, written({ terms: encodeMeteredTerms(terms) }), false);

/** @throws CliError FILE_EXISTS, FILE_UNREADABLE */
export const writeSignedTerms = (path: string, signed: SignedMeteredTerms): void =>
  writePrivate(path, written(encodeSignedTerms(signed)), false);
