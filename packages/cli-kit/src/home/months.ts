import { existsSync } from "node:fs";
import { type Month, parseMonth, SottoError } from "@sotto/protocol";
import { CliError } from "../frame/errors.ts";
import { readText, writePrivate } from "./files.ts";
import type { Home } from "./home.ts";

/** The newest schedule of addresses that this wallet signed. */
export interface IssuedSchedule {
  /** The file that was written. */
  readonly file: string;
  readonly sequence: number;
  /** The schedule's EIP-712 digest. */
  readonly digest: string;
  readonly firstMonth: Month;
  readonly lastMonth: Month;
}

/** The schedule and keys that this wallet issued to its resource servers. It has no secret, and a wallet works without it. */
export interface Issued {
  readonly schedule?: IssuedSchedule | undefined;
  /** The later month of the newest keys of `sotto view-key --next`. */
  readonly serverKeys?: Month | undefined;
}

const VERSION = 1;

/** Reads the record of this wallet; empty if there is none. @throws CliError CONFIG_INVALID, FILE_UNREADABLE */
export function readIssued({ months: path }: Home): Issued {
  if (!existsSync(path)) return {};
  const invalid = (cause: unknown) =>
    new CliError("CONFIG_INVALID", `${path} is malformed; delete it, it is written again`, {}, { cause });
  try {
    const { version, schedule, serverKeys } = JSON.parse(readText(path, 65_536)) as Record<string, unknown>;
    if (version !== VERSION) throw invalid(version);
    return {
      schedule: schedule === undefined ? undefined : parseSchedule(Object(schedule)),
      serverKeys: serverKeys === undefined ? undefined : parseMonth(serverKeys, "serverKeys"),
    };
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    if (cause instanceof SyntaxError || cause instanceof SottoError || cause instanceof TypeError) throw invalid(cause);
    throw cause;
  }
}

function parseSchedule({ file, sequence, digest, firstMonth, lastMonth }: Record<string, unknown>): IssuedSchedule {
  if (typeof file !== "string" || typeof digest !== "string" || !Number.isSafeInteger(sequence))
    throw new TypeError("schedule");
  return {
    file,
    sequence: Number(sequence),
    digest,
    firstMonth: parseMonth(firstMonth, "firstMonth"),
    lastMonth: parseMonth(lastMonth, "lastMonth"),
  };
}

/** Writes these changes to the record. @throws CliError CONFIG_INVALID, FILE_UNREADABLE */
export function recordIssued(home: Home, changes: Issued): void {
  const text = JSON.stringify({ version: VERSION, ...readIssued(home), ...changes }, null, 2);
  writePrivate(home.months, `${text}\n`, true);
}
