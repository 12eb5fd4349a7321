// Counts what one request uses.
import type { Meter } from "@sotto/resource-server";
import { assertUnitCounts, chargeOf, type MeteredRule, type UnitCounts } from "../../index.ts";
import { PrepaidServerError } from "../errors.ts";

/** What a request has used. */
export interface Counted {
  readonly units: UnitCounts;
  /** Base units. */
  readonly charge: bigint;
}

export class RequestMeter implements Meter {
  readonly #rule: MeteredRule;
  readonly #store: (() => Promise<void>) | undefined;
  #counted: Counted;
  #isKept = false;
  #hasEnded = false;

  /** @param store makes the charge so far durable; undefined for a payment without change */
  constructor(rule: MeteredRule, store?: () => Promise<void>) {
    this.#rule = rule;
    this.#store = store;
    this.#counted = { units: assertUnitCounts({}), charge: chargeOf(rule, {}) };
  }

  /**
   * @throws PrepaidServerError METER_ENDED; SottoError INVALID_ARGUMENT for a unit that the rule does not price, INVALID_STRING,
   *   INVALID_INTEGER: then nothing of the call is counted
   */
  add(units: Readonly<Record<string, number | bigint>>): boolean {
    this.#assertRunning();
    const total: Record<string, bigint> = { ...this.#counted.units };
    for (const [name, count] of Object.entries(assertUnitCounts(units))) total[name] = (total[name] ?? 0n) + count;
    this.#counted = { units: assertUnitCounts(total), charge: chargeOf(this.#rule, total) };
    return this.left > 0n;
  }

  get left(): bigint {
    return this.#rule.cap - this.#counted.charge;
  }

  get charge(): bigint {
    return this.#counted.charge;
  }

  /** @throws PrepaidServerError METER_ENDED; CheckUnavailable if the store does not answer */
  async checkpoint(): Promise<void> {
    this.#assertRunning();
    await this.#store?.();
  }

  /** @throws PrepaidServerError METER_ENDED */
  keep(): void {
    this.#assertRunning();
    this.#isKept = true;
  }

  /** Whether a failed response is charged too. */
  get isKept(): boolean {
    return this.#isKept;
  }

  /** Whether nothing is counted any more. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** What was counted so far. */
  get counted(): Counted {
    return this.#counted;
  }

  /** From now on nothing is counted. */
  end(): void {
    this.#hasEnded = true;
  }

  #assertRunning(): void {
    if (this.#hasEnded)
      throw new PrepaidServerError(
        "METER_ENDED",
        "the request has ended, so what it uses is no longer counted; stop the work when the client is gone",
      );
  }
}
