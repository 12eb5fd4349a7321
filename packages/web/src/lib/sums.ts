import type { Month } from "@sotto/protocol";
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

/** Payments to the address of one month. */
export interface MonthSum {
  /** Undefined for the lasting address. */
  readonly month: Month | undefined;
  readonly payments: number;
  /** Base units. */
  readonly amount: bigint;
}

/**
 * Sums of payments by the month of the paid address, whenever they were made. Deposits do not count as income.
 * @param months of the addresses that the keys open, in the order of the result
 */
export function sumByMonth(received: readonly Received[], months: readonly (Month | undefined)[]): MonthSum[] {
  const payments = received.filter(({ origin }) => origin === "payment");
  return months.map((month) => {
    const own = payments.filter((payment) => payment.month === month);
    return { month, payments: own.length, amount: own.reduce((sum, { amount }) => sum + amount, 0n) };
  });
}
