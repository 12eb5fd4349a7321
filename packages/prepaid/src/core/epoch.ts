import { assertInteger, describe, fail } from "@sotto/protocol/extend";

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
 * @param months 0 to 1200, or negative for an earlier epoch
 * @throws SottoError INVALID_STRING, INVALID_INTEGER
 */
export function laterEpoch(epoch: string, months: number): string {
  const total = monthsOf(epoch) + assertInteger(months, -1200, 1200, "months");
  const text = `${String(Math.floor(total / 12)).padStart(4, "0")}-${String((total % 12) + 1).padStart(2, "0")}`;
  monthsOf(text);
  return text;
}

/**
 * The epoch of a time.
 * @param time milliseconds since the Unix epoch, in the years 2000 to 2999
 * @throws SottoError INVALID_INTEGER, INVALID_STRING
 */
export function epochOf(time: number): string {
  const date = new Date(assertInteger(time, 0, Date.UTC(3000, 0) - 1, "time"));
  const text = date.toISOString().slice(0, 7);
  monthsOf(text);
  return text;
}

/** The start of an epoch and of the one `months` later, milliseconds. */
function periodOf(epoch: string, months: number): readonly [from: number, until: number] {
  // Date.UTC takes the years 0 to 99 for 1900 to 1999.
  const sinceYear2000 = monthsOf(epoch) - 12 * 2000;
  return [Date.UTC(2000, sinceYear2000), Date.UTC(2000, sinceYear2000 + months)];
}

function isWithin(time: number, [from, until]: readonly [from: number, until: number]): boolean {
  assertInteger(time, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, "time");
  return from <= time && time < until;
}

/**
 * Whether a key of `epoch` signs at `time` (milliseconds, also one that is in no epoch): only during its epoch.
 * @throws SottoError INVALID_INTEGER, INVALID_STRING
 */
export const signsAt = (epoch: string, time: number): boolean => isWithin(time, periodOf(epoch, 1));

/**
 * When tokens of a key of `epoch` are accepted: from its epoch's start until right before the end of the next one,
 * milliseconds.
 * @throws SottoError INVALID_STRING
 */
export const redemptionOf = (epoch: string): readonly [from: number, until: number] => periodOf(epoch, 2);

/**
 * Whether tokens of a key of `epoch` are accepted at `time` (milliseconds, also one that is in no epoch): during its
 * epoch and the next one.
 * @throws SottoError INVALID_INTEGER, INVALID_STRING
 */
export const redeemsAt = (epoch: string, time: number): boolean => isWithin(time, redemptionOf(epoch));

/** For so long before its tokens end, a month signs no more change: its payers would have too little time to spend it. */
const CHANGE_ENDS_BEFORE_MS = 7 * 86_400_000;

/**
 * The epoch whose keys sign the change of a token that is spent at `time`: the token's own, and from seven days before its
 * tokens end, the next one. It is also the latest epoch into which tokens of `epoch` can be swapped at `time`.
 * @param epoch of the spent token, such as "2026-11"
 * @param time milliseconds, also one that is in no epoch
 * @throws SottoError INVALID_INTEGER, INVALID_STRING
 */
export function changeEpochAt(epoch: string, time: number): string {
  const [, until] = redemptionOf(epoch);
  const isOwn = isWithin(time, [Number.NEGATIVE_INFINITY, until - CHANGE_ENDS_BEFORE_MS]);
  return isOwn ? epoch : laterEpoch(epoch, 1);
}
