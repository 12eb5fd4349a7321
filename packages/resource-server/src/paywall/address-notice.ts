// Tells the operator in time that the addresses of a paywall end.

import { addressesDue } from "@sotto/protocol";
import type { PaywallEvent } from "./events.ts";
import type { Months } from "./recipients.ts";

const DAY_MS = 86_400_000;
/** Interval between comparisons with the clock, ms. */
const CHECK_MS = 3_600_000;

export interface AddressNoticeParts {
  readonly months: Pick<Months, "lastMonth" | "end">;
  readonly report: (event: PaywallEvent) => void;
  readonly clock: () => number;
}

export class AddressNotice {
  readonly #parts: AddressNoticeParts;
  #last = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: AddressNoticeParts) {
    this.#parts = parts;
  }

  /** Reports once a day from 30 days before the last month begins. */
  check(): void {
    const { months, report, clock } = this.#parts;
    const now = clock();
    if (now < addressesDue(months.lastMonth) || now < this.#last + DAY_MS) return;
    this.#last = now;
    report({ event: "addresses", month: months.lastMonth, days: Math.floor((months.end - now) / DAY_MS) });
  }

  start(): void {
    this.check();
    this.#timer = setInterval(() => this.check(), CHECK_MS);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
