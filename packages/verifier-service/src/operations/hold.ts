// How long a request for a settlement is held, and how many are held at once.
import { ServiceError } from "../errors.ts";

/** Who asks for a settlement, and how long it can wait for the answer. */
export interface Caller {
  /** Its network address, under the name that quotas know it by. */
  readonly client: string;
  /** It takes `pending` for an answer after this time, ms. Undefined: it did not say so, and is held. */
  readonly asyncAfterMs: number | undefined;
  /** Aborted when it disconnects. */
  readonly gone: AbortSignal;
}

export interface HoldOptions {
  /** Requests held at once. */
  readonly maxHeld: number;
  /** Operator's limit of all waits, ms. Undefined: a payment is held until its outcome is decided. */
  readonly settleWaitMs: number | undefined;
  readonly confirmations: number;
  readonly blockTimeMs: number;
  readonly clock: () => number;
  /** Told how many requests are held. */
  readonly onChange: (held: number) => void;
}

/**
 * Longest time a request is held, ms. Node's fetch waits 300 s for an answer, and our own server closes connections that
 * were silent for so long.
 */
export const MAX_HOLD_MS = 280_000;
/** After a payment's date the first block beyond it has to be mined, confirmed and read. */
const SPARE_BLOCKS = 2;
/** Requests held for one payment: a client asks once, and again if its connection breaks. */
const MAX_PER_PAYMENT = 8;
const TOTAL = "total";

/** A request's place among those that are held. */
export interface Hold {
  /** Whether `pending` may be the answer. */
  readonly mayAnswerPending: boolean;
  /** How long to wait for the outcome of an operation that can be mined until `validUntil` (seconds), ms. */
  waitMs(validUntil: number): number;
  leave(): void;
}

/** Bounds the requests that are held: in total, for one network address and for one payment. */
export class Holds {
  readonly #options: HoldOptions;
  readonly #counts = new Map<string, number>();

  constructor(options: HoldOptions) {
    this.#options = options;
  }

  /**
   * Takes a place. Call it before the payment is queued: a client that is refused here has not paid, whatever it makes of
   * the error. If no place is left, a client that takes `pending` for an answer gets that at once.
   *
   * @param payment what is asked for, such as the payment's nullifier
   * @throws ServiceError OVERLOADED
   */
  enter(payment: string, { asyncAfterMs, client }: Caller): Hold {
    const { maxHeld, settleWaitMs, clock } = this.#options;
    const limits = new Map([
      [TOTAL, maxHeld],
      [`client ${client}`, Math.ceil(maxHeld / 2)],
      [`payment ${payment}`, MAX_PER_PAYMENT],
    ]);
    const isFree = [...limits].every(([key, limit]) => (this.#counts.get(key) ?? 0) < limit);
    const mayAnswerPending = asyncAfterMs !== undefined || settleWaitMs !== undefined;
    if (!isFree && !mayAnswerPending)
      throw new ServiceError(
        "OVERLOADED",
        "too many requests wait for settlements, so nothing was queued; try again, or send Prefer: respond-async",
      );
    if (isFree) this.#count(limits.keys(), 1);
    let left = !isFree;
    return {
      mayAnswerPending,
      waitMs: (validUntil) => {
        if (!isFree) return 0;
        const longest = Math.min(asyncAfterMs ?? MAX_HOLD_MS, settleWaitMs ?? MAX_HOLD_MS, MAX_HOLD_MS);
        return Math.max(0, Math.min(this.#decidedAt(validUntil) - clock(), longest));
      },
      leave: () => {
        if (left) return;
        left = true;
        this.#count(limits.keys(), -1);
      },
    };
  }

  /** When a chain that makes blocks has shown whether a payment was mined before its date, ms. */
  #decidedAt(validUntil: number): number {
    const { confirmations, blockTimeMs } = this.#options;
    return validUntil * 1000 + (confirmations + SPARE_BLOCKS) * blockTimeMs;
  }

  #count(keys: Iterable<string>, by: 1 | -1): void {
    for (const key of keys) {
      const count = (this.#counts.get(key) ?? 0) + by;
      if (count === 0) this.#counts.delete(key);
      else this.#counts.set(key, count);
    }
    this.#options.onChange(this.#counts.get(TOTAL) ?? 0);
  }
}
