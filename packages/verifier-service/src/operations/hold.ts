// How long a request for a settlement waits, and how many requests wait at once. A payment that is queued may still be
// settled, so the response `pending` is for clients that can ask again. Three values decide:
//
// - `Prefer: respond-async, wait=S` (the client's): answer `pending` after S seconds, or at once without `wait`.
//   Without `respond-async`, a client gets the outcome of its payment, even if it must wait until the deadline is
//   confirmed.
// - SOTTO_SETTLE_WAIT_MS (the operator's): answer `pending` after this time, even if the client would wait
//   longer. Deposits and withdrawals have a default for it (`relayWaitMs`), payments do not.
// - SOTTO_MAX_HELD (the operator's): how many requests wait at once. Beyond it, clients that accept `pending` get it at
//   once; the others get OVERLOADED, and nothing is queued for them.
//
// The shortest of these times applies, but no wait is longer than MAX_HOLD_MS.
import type { TraceStep } from "@sotto/server";
import { ServiceError } from "../errors.ts";

/** The client that requests a settlement, and how long it waits. */
export interface Caller {
  /** The id under which quotas count the client. */
  readonly client: string;
  /** The client accepts `pending` after this time, ms; undefined if it did not ask for that. */
  readonly asyncAfterMs: number | undefined;
  /** Aborted when the client disconnects. */
  readonly gone: AbortSignal;
  /** Begins a step of the request's trace. @param known traceparent to follow if the request has none */
  readonly begin: (name: string, known?: string) => TraceStep;
}

export interface HoldOptions {
  /** Read for each request: they may change while requests wait. */
  readonly limits: {
    /** Maximum requests that wait at once. */
    readonly maxHeld: number;
    /** The operator's limit for all waits, ms; undefined: a payment waits until its outcome is decided. */
    readonly settleWaitMs: number | undefined;
    readonly confirmations: number;
    readonly blockTimeMs: number;
  };
  readonly clock: () => number;
  /** Called with the number of waiting requests. */
  readonly onChange: (held: number) => void;
}

/**
 * Longest wait of a request, ms. Node's fetch waits 300 s for a response, and the server closes connections without traffic
 * after the same time.
 */
export const MAX_HOLD_MS = 280_000;
/** The outcome is known once a block after the payment's deadline is mined, confirmed and read. */
const SPARE_BLOCKS = 2;
/** Maximum waiting requests for one payment: a client sends one, and another if its connection breaks. */
const MAX_PER_PAYMENT = 8;
const TOTAL = "total";

/** A request that may wait. */
export interface Hold {
  /** Whether `pending` may be the response. */
  readonly mayAnswerPending: boolean;
  /** How long to wait for an operation that can be mined until `validUntil` (seconds), ms. */
  waitMs(validUntil: number): number;
  leave(): void;
}

/** Limits the requests that wait: in total, per client and per payment. */
export class Holds {
  readonly #options: HoldOptions;
  readonly #counts = new Map<string, number>();

  constructor(options: HoldOptions) {
    this.#options = options;
  }

  /**
   * Acquires a slot. Call it before the payment is queued, so that a client that is refused here has not paid. If no slot
   * is free, a client that accepts `pending` gets it at once.
   * @param payment identifies the payment, for example its nullifier
   * @throws ServiceError OVERLOADED
   */
  enter(payment: string, { asyncAfterMs, client }: Pick<Caller, "asyncAfterMs" | "client">): Hold {
    const { clock } = this.#options;
    const { maxHeld, settleWaitMs } = this.#options.limits;
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

  /** The time at which the chain shows whether an operation was mined before its deadline, ms. */
  #decidedAt(validUntil: number): number {
    const { confirmations, blockTimeMs } = this.#options.limits;
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
