import type { Store, StoreChange } from "@sotto/wallet";
import {
  assertRoom,
  assertWithinLimit,
  CHARGES,
  type Count,
  countsOf,
  type Reservation,
  type SpendingLimits,
} from "./limits.ts";

/**
 * What servers charged for requests that were paid with tokens, by hour, day, host and tool. The same limits apply as to
 * payments, in counters of their own: the purchase of the tokens counts as a payment. The maximum charge of a request is
 * reserved before it is sent, and lowered once the charge is known. A process has one instance per store.
 */
export class ChargeCounters {
  readonly #spent: Map<string, bigint>;

  private constructor(spent: Map<string, bigint>) {
    this.#spent = spent;
  }

  /** Reads the counters of a store. */
  static async open(store: Store): Promise<ChargeCounters> {
    const records = await store.list(`${CHARGES}/`);
    return new ChargeCounters(new Map(records.map(({ key, value }) => [key, BigInt(String(value))])));
  }

  /**
   * Reserves an amount in memory. The caller writes the changes.
   * @throws PurchaseError REQUEST_LIMIT_EXCEEDED, DAY_LIMIT_EXCEEDED, HOST_LIMIT_EXCEEDED, TOOL_LIMIT_EXCEEDED,
   *   HOUR_LIMIT_EXCEEDED
   */
  reserve(limits: SpendingLimits, amount: bigint, place: Reservation): StoreChange[] {
    assertWithinLimit(limits, amount);
    assertRoom(amount, this.#countersOf(limits, place), place);
    return this.#add(amount, place);
  }

  /** Returns a part of a reserved amount that was not charged. The caller writes the changes. */
  lower(amount: bigint, place: Reservation): StoreChange[] {
    return this.#add(-amount, place);
  }

  /** Base units charged or reserved on the day of this place. */
  charged(place: Reservation): bigint {
    return this.#countersOf({}, place).find(({ kind }) => kind === "day")!.spent;
  }

  #countersOf(limits: SpendingLimits, place: Reservation): (Count & { readonly spent: bigint })[] {
    return countsOf(limits, place, CHARGES).map((count) => ({ ...count, spent: this.#spent.get(count.key) ?? 0n }));
  }

  #add(amount: bigint, place: Reservation): StoreChange[] {
    return this.#countersOf({}, place).map(({ key, spent }) => {
      const sum = spent + amount;
      this.#spent.set(key, sum < 0n ? 0n : sum);
      return { put: key, value: String(sum < 0n ? 0n : sum) };
    });
  }
}
