import {
  addMonths,
  describeMonths,
  MAX_VIEWING_KEYS,
  type Month,
  monthAt,
  monthEnd,
  monthRange,
  SottoError,
} from "@sotto/protocol";
import type { Arguments } from "./frame/arguments.ts";
import { usage } from "./frame/errors.ts";

const DAY_MS = 86_400_000;
/** Time before the end of a month in which resource servers get the key of the next one, ms. */
const NEXT_KEY_MS = 3 * DAY_MS;

/** Options of commands that write keys of months. */
export const MONTH_OPTIONS = {
  month: { value: "MONTH", help: "one month (UTC), such as 2026-03" },
  from: { value: "MONTH", help: "the first of several months" },
  to: { value: "MONTH", help: "the last of several months, included" },
} as const;

/**
 * The months that --month, or --from and --to, name.
 * @returns undefined if none of them is given
 * @throws CliError USAGE
 */
export function monthsOf(args: Arguments): Month[] | undefined {
  const [month, from, to] = [args.month("month"), args.month("from"), args.month("to")];
  if (month !== undefined) {
    if (from !== undefined || to !== undefined) throw usage("--month cannot be combined with --from and --to");
    return [month];
  }
  if (from === undefined && to === undefined) return undefined;
  if (from === undefined || to === undefined) throw usage("--from and --to belong together: name both months");
  if (from > to) throw usage("--from is after --to: name the earlier month with --from");
  const months = monthRange(from, to);
  if (months.length >= MAX_VIEWING_KEYS)
    throw usage(`--from and --to name ${months.length} months; a file holds fewer than ${MAX_VIEWING_KEYS}`);
  return months;
}

/**
 * The two months whose keys a resource server gets now: the previous month and this one, or in the last three days of a month
 * this one and the next, so that the server has the key before the month begins.
 * @throws CliError USAGE if the clock is outside of 2020 to 2099
 */
export function serverMonths(now: number): [Month, Month] {
  try {
    const month = monthAt(now);
    return monthEnd(month) - now <= NEXT_KEY_MS ? [month, addMonths(month, 1)] : [addMonths(month, -1), month];
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw usage("the clock of this machine is not between 2020 and 2099: set it first");
  }
}

/** Names months in the name of a file. */
export const monthsName = (months: readonly Month[]): string => describeMonths(months).replaceAll(" ", "-");

/** Warns that a schedule begins after this month. */
export const laterText = (first: Month): string =>
  `a resource server with these addresses does not start before ${first}; sign this month too, without --first`;
