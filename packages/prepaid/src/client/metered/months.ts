import { changeEpochAt, epochOf, redemptionOf } from "../../index.ts";

/** How far the clock of a server may be from the wallet's, ms. */
const CLOCK_GAP_MS = 86_400_000;

/** The months that a server's clock may show at a time of the wallet's clock, the earliest first. */
export const monthsAround = (time: number): readonly [earliest: string, ...others: string[]] => [
  epochOf(time - CLOCK_GAP_MS),
  epochOf(time),
  epochOf(time + CLOCK_GAP_MS),
];

/**
 * The months whose keys may sign change at a time of the wallet's clock, the earlier first.
 * @param epoch of the tokens that are spent
 */
export const changeMonths = (epoch: string, time: number): readonly [earlier: string, later: string] => [
  changeEpochAt(epoch, time - CLOCK_GAP_MS),
  changeEpochAt(epoch, time + CLOCK_GAP_MS),
];

/** Whether the tokens of a month may have ended by the clock of a server. */
export const mayHaveEnded = (epoch: string, now: number): boolean => redemptionOf(epoch)[1] <= now + CLOCK_GAP_MS;
