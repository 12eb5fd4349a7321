import { describe, fail } from "./errors.ts";
import { assertInteger } from "./validate.ts";

/** A calendar month of UTC from 2020-01 to 2099-12, as text: "2026-12". Months sort like their texts. */
export type Month = string & { readonly month: unique symbol };

/** Time before the start and after the end of a month in which its address may still be paid, ms: clocks differ. */
export const MONTH_GRACE_MS = 600_000;

/**
 * Time before the start and after the end of a month in which blocks are read for its payments, ms. A payment settles within 13
 * minutes of its month, and the clocks of chains differ.
 */
export const MONTH_MARGIN_MS = 3_600_000;

const FORM = /^20[2-9][0-9]-(?:0[1-9]|1[0-2])$/;
const [FIRST_YEAR, LAST_YEAR] = [2020, 2099];
/** The last time that a Date can have, ms. */
const MAX_TIME = 8_640_000_000_000_000;

/** Checks the form of a month. @throws SottoError INVALID_MONTH */
export function parseMonth(text: unknown, name = "month"): Month {
  if (typeof text !== "string" || !FORM.test(text))
    fail("INVALID_MONTH", `${name} must be a month from 2020-01 to 2099-12, got ${describe(text)}`, { name });
  return text as Month;
}

/** Months since January 2020. */
function indexOf(month: Month): number {
  const [year = 0, number = 0] = parseMonth(month).split("-").map(Number);
  return 12 * (year - FIRST_YEAR) + number - 1;
}

const startOf = (index: number): number => Date.UTC(FIRST_YEAR, index);

/** The month that contains a time. @param ms since the Unix epoch @throws SottoError INVALID_MONTH, INVALID_INTEGER */
export function monthAt(ms: number): Month {
  const date = new Date(assertInteger(ms, 0, MAX_TIME, "the time"));
  const year = date.getUTCFullYear();
  if (year < FIRST_YEAR || year > LAST_YEAR) fail("INVALID_MONTH", `the year ${year} is not from 2020 to 2099`);
  return `${year}-${String(date.getUTCMonth() + 1).padStart(2, "0")}` as Month;
}

/** When a month begins, ms since the Unix epoch. @throws SottoError INVALID_MONTH */
export const monthStart = (month: Month): number => startOf(indexOf(month));

/** When the next month begins, ms since the Unix epoch. @throws SottoError INVALID_MONTH */
export const monthEnd = (month: Month): number => startOf(indexOf(month) + 1);

/** The month `count` months later, or earlier if it is negative. @throws SottoError INVALID_MONTH, INVALID_INTEGER */
export const addMonths = (month: Month, count: number): Month =>
  monthAt(Math.max(0, startOf(indexOf(month) + assertInteger(count, -1_200, 1_200, "count"))));

/**
 * The months from the first to the last, both included; none if the last is earlier.
 * @throws SottoError INVALID_MONTH
 */
export function monthRange(first: Month, last: Month): Month[] {
  const [start, end] = [indexOf(first), indexOf(last)];
  return Array.from({ length: Math.max(0, end - start + 1) }, (_, i) => monthAt(startOf(start + i)));
}

/** The month of a time and, within `margin` ms of its start or end, its neighbour; none outside 2020 to 2099. */
function monthsWithin(ms: number, margin: number): Month[] {
  const [first, end] = [Date.UTC(FIRST_YEAR), Date.UTC(LAST_YEAR + 1)];
  assertInteger(ms, 0, MAX_TIME, "the time");
  if (ms < first || ms >= end) return [];
  const times = [ms, Math.max(first, ms - margin), Math.min(end - 1, ms + margin)];
  return [...new Set(times.map(monthAt))];
}

/**
 * The months whose addresses may be paid at a time: the month itself and, within the grace of its start or end, its neighbour.
 * @param ms since the Unix epoch
 * @throws SottoError INVALID_MONTH, INVALID_INTEGER
 */
export function monthsAt(ms: number): Month[] {
  monthAt(ms);
  return monthsWithin(ms, MONTH_GRACE_MS);
}

/**
 * The months whose addresses a block of this time may have paid: its own month first and, within an hour of its start or end, its
 * neighbour. None outside 2020 to 2099.
 * @param ms since the Unix epoch
 * @throws SottoError INVALID_INTEGER
 */
export const monthsNear = (ms: number): Month[] => monthsWithin(ms, MONTH_MARGIN_MS);

/**
 * Months as ranges: "2026-10 to 2026-12, 2027-02 and the lasting address"; "" if there is nothing.
 * @param months in order
 * @param lasting whether the lasting address is one of them. Default: false
 * @throws SottoError INVALID_MONTH
 */
export function describeMonths(months: readonly Month[], lasting = false): string {
  if (!Array.isArray(months)) fail("INVALID_MONTH", `months must be a list of months, got ${describe(months)}`);
  const ranges: [Month, Month][] = [];
  for (const month of months.map((each: unknown) => parseMonth(each))) {
    const last = ranges.at(-1);
    if (last !== undefined && addMonths(last[1], 1) === month) last[1] = month;
    else ranges.push([month, month]);
  }
  const texts = ranges.map(([first, last]) => (first === last ? first : `${first} to ${last}`));
  if (lasting) texts.push("the lasting address");
  const end = texts.pop() ?? "";
  return texts.length === 0 ? end : `${texts.join(", ")} and ${end}`;
}
