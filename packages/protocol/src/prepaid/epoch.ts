import { describe, fail } from "../errors.ts";
import { assertInteger } from "../validate.ts";

const EPOCH = /^(2[0-9]{3})-(0[1-9]|1[0-2])$/;

/** Number of months from year 0 to the start of an epoch such as "2026-11". */
function monthsOf(epoch: unknown): number {
  const match = typeof epoch === "string" ? EPOCH.exec(epoch) : null;
  if (match === null) fail("INVALID_STRING", `an epoch must be a UTC month such as 2026-11, got ${describe(epoch)}`);
  return Number(match[1]) * 12 + Number(match[2]) - 1;
}

/**
 * The epoch that is `months` later: `laterEpoch("2026-11", 2)` is "2027-01". An epoch is the UTC month in which a
 * prepaid key signs.
 *
 * @param months 0 to 1200, or negative for an earlier epoch
 * @throws SottoError INVALID_STRING, INVALID_INTEGER
 */
export function laterEpoch(epoch: string, months: number): string {
  const total = monthsOf(epoch) + assertInteger(months, -1200, 1200, "months");
  const text = `${String(Math.floor(total / 12)).padStart(4, "0")}-${String((total % 12) + 1).padStart(2, "0")}`;
  monthsOf(text);
  return text;
}

/** Number of months from year 0 to a time. Servers ask for each token, so this makes no text. */
function monthsAt(time: number): number {
  const date = new Date(assertInteger(time, 0, Date.UTC(3000, 0) - 1, "time"));
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/**
 * The epoch of a time.
 *
 * @param time milliseconds since the Unix epoch, in the years 2000 to 2999
 * @throws SottoError INVALID_INTEGER, INVALID_STRING
 */
export function epochOf(time: number): string {
  const date = new Date(assertInteger(time, 0, Date.UTC(3000, 0) - 1, "time"));
  const text = date.toISOString().slice(0, 7);
  monthsOf(text);
  return text;
}

/** Whether a key of `epoch` signs at `time` (milliseconds): only during its epoch. */
export const signsAt = (epoch: string, time: number): boolean => monthsOf(epoch) === monthsAt(time);

/** Whether tokens of a key of `epoch` are accepted at `time` (milliseconds): during its epoch and the next one. */
export function redeemsAt(epoch: string, time: number): boolean {
  const age = monthsAt(time) - monthsOf(epoch);
  return age === 0 || age === 1;
}
