import { describeError } from "./redact.ts";

/** At most one line about the same fault in this time, ms. */
const EVERY_MS = 60_000;
/** Maximum number of faults that are remembered; the oldest are forgotten first. */
const MAX_FAULTS = 500;

/** Fields that tell faults with the same message apart. The id of a payment is not one: a thousand payments have a thousand ids. */
const FIELDS = ["code", "reason", "kind", "judge", "route", "node", "refusal", "why", "nonce", "ids", "to", "attempt"];

/** Recognizes repeated faults, and counts how often each was left out of the log. */
export class Repeats {
  readonly #clock: () => number;
  readonly #faults = new Map<string, { since: number; left: number }>();

  /** @param clock now, ms */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /**
   * Counts a line about a fault.
   * @returns undefined if the same fault was logged within the last minute; otherwise how many lines were left out since
   */
  next(fields: object, message: string): number | undefined {
    const values = fields as Readonly<Record<string, unknown>>;
    const error = values["err"] === undefined ? undefined : describeError(values["err"]);
    const fault = JSON.stringify([message, ...FIELDS.map((name) => values[name]), error]);
    const now = this.#clock();
    const known = this.#faults.get(fault);
    if (known !== undefined && now >= known.since && now - known.since < EVERY_MS) {
      known.left += 1;
      return undefined;
    }
    this.#faults.delete(fault);
    this.#faults.set(fault, { since: now, left: 0 });
    const [oldest] = this.#faults.keys();
    if (this.#faults.size > MAX_FAULTS && oldest !== undefined) this.#faults.delete(oldest);
    return known?.left ?? 0;
  }
}
