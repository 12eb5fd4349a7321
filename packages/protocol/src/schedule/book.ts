import { describe, fail, recode } from "../errors.ts";
import type { Address } from "../ethereum-address.ts";
import { type Month, monthsAt } from "../month.ts";
import { SottoError } from "../sotto-error.ts";
import { assertMonthAddresses, type MonthAddresses, type SignedMonthBinding } from "./addresses.ts";
import { SCHEDULE_PATH, type ScheduleReference } from "./reference.ts";
import { scheduleDigest } from "./schedule.ts";

const CODE = "SCHEDULE_INVALID";

/** The address of a month, with the schedule that lists it. */
export interface ListedAddress extends SignedMonthBinding {
  /** For the terms of a payment. */
  readonly schedule: ScheduleReference;
}

/** Months of a time that a payer or a wrong clock chose, its own first; none if the time is not one that months have. */
function monthsOf(ms: number): readonly Month[] {
  try {
    return monthsAt(ms);
  } catch (error) {
    if (error instanceof SottoError) return [];
    throw error;
  }
}

const listed = ({ schedule, bindings }: MonthAddresses): ListedAddress[] => {
  const link = Object.freeze({ path: SCHEDULE_PATH, digest: scheduleDigest(schedule) });
  return bindings.map((binding) => Object.freeze({ ...binding, schedule: link }));
};

function assertOneRecipient(all: readonly MonthAddresses[]): void {
  const names = ["wallet", "chainId", "pool", "ownerTag"] as const;
  const [newest, ...others] = all.map(({ schedule }) => schedule);
  for (const other of others) {
    const differing = names.find((name) => other[name] !== newest![name]);
    if (differing !== undefined)
      fail(CODE, `two schedules of one server have a different ${differing}; remove the one that is not this server's`);
  }
  const digests = new Map(all.map(({ schedule }) => [scheduleDigest(schedule), schedule.sequence]));
  if (new Set(digests.values()).size !== digests.size)
    fail(
      CODE,
      "two different schedules have the same sequence number; clients accept only one: sign another with a higher number",
    );
}

/**
 * The month addresses of a server: it asks for payments to those of the schedule with the highest number, and accepts payments
 * to those of the others, which were made before.
 */
export class AddressBook {
  /** The addresses of the schedule with the highest number. */
  readonly newest: MonthAddresses;
  /** The addresses of `newest`, in the order of their months. */
  readonly listed: readonly ListedAddress[];
  /** The addresses of all schedules. */
  readonly all: readonly ListedAddress[];

  /**
   * @param addresses of one wallet, owner tag, chain and pool
   * @throws SottoError SCHEDULE_INVALID
   */
  constructor(addresses: MonthAddresses | readonly MonthAddresses[]) {
    const given: readonly unknown[] = Array.isArray(addresses) ? addresses : [addresses];
    if (given.length === 0) fail(CODE, `addresses must be those of one or more schedules, got ${describe(addresses)}`);
    const all = recode(CODE, "not the addresses of a server", () => given.map(assertMonthAddresses));
    all.sort((a, b) => b.schedule.sequence - a.schedule.sequence);
    assertOneRecipient(all);
    this.newest = all[0]!;
    this.listed = listed(this.newest);
    this.all = [...this.listed, ...all.slice(1).flatMap(listed)];
  }

  /** The wallet that signed. */
  get wallet(): Address {
    return this.newest.schedule.wallet;
  }

  /** The address to ask for at a time, ms; undefined if the newest schedule has none. */
  at(ms: number): ListedAddress | undefined {
    const [month] = monthsOf(ms);
    return this.listed.find((one) => one.month === month);
  }

  /** The message of ADDRESS_MONTH_MISSING, for the operator of a server that has no address at a time. @param ms its clock's time */
  missingAt(ms: number): string {
    const [first, last] = [this.listed[0]!.month, this.listed.at(-1)!.month];
    return (
      `recipient.addresses has no address for ${new Date(Number(ms)).toJSON()}, the time of this machine's clock, only for ${first} to ` +
      `${last}; if the clock is right, sign addresses of more months with \`sotto address schedule\` and start the server with ` +
      "them; if it is wrong, set it"
    );
  }

  /**
   * The addresses at which a payment counts, that of `at` first: those of the time's month and, within the grace of its start
   * or end, of its neighbour. None if no month has the time.
   * @param ms when the payment was made
   */
  acceptedAt(ms: number): readonly ListedAddress[] {
    return monthsOf(ms).flatMap((month) => this.all.filter((one) => one.month === month));
  }
}
