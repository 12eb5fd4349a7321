import type { Received } from "@sotto/wallet";

export type Period = "hour" | "day";

/** Payments of one hour or day. */
export interface PeriodSum {
  /** When it begins, seconds. */
  readonly start: number;
  readonly payments: number;
  /** Base units. */
  readonly amount: bigint;
}

const SECONDS: Readonly<Record<Period, number>> = { hour: 3_600, day: 86_400 };

/**
 * Sums of payments by UTC hour or day: the last `count` periods up to `now`, oldest first, empty ones included.
 * Deposits do not count as income.
 * @param now seconds
 */
export function sumByPeriod(received: readonly Received[], period: Period, count: number, now: number): PeriodSum[] {
  const size = SECONDS[period];
  const last = now - (now % size);
  const sums = Array.from({ length: count }, (_, i) => ({
    start: last - (count - 1 - i) * size,
    payments: 0,
    amount: 0n,
  }));
  for (const { origin, timestamp, amount } of received) {
    const sum = sums[Math.floor((timestamp - last) / size) + count - 1];
    if (origin !== "payment" || sum === undefined) continue;
    sum.payments += 1;
    sum.amount += amount;
  }
  return sums;
}
