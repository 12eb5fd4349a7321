// The requests of metered routes that run in this process, and the charges that are being stored.
import { setTimeout as sleep } from "node:timers/promises";
import { CheckUnavailable, type Outcome } from "@sotto/resource-server";
import { encodeUnitCounts } from "../../core/metered/units.ts";
import type { MeteredRule } from "../../index.ts";
import { Batches } from "../batches.ts";
import { PrepaidServerError } from "../errors.ts";
import { spendId, type TokenId } from "../token-id.ts";
import { RequestMeter } from "./meter.ts";
import type { ChargeUpdate } from "./store.ts";

/** One statement for all requests of a turn; while it runs, the next ones wait for it. */
const LIMITS = { size: 200, running: 1, early: 200 };
/** Minimum time between two checkpoints of a request, ms. */
const CHECKPOINT_MS = 250;
/** A request ends before its deadline, so that its charge can be stored in time: by a tenth of its time within these, ms. */
const [MIN_MARGIN_MS, MAX_MARGIN_MS] = [2_000, 10_000];
/** Attempts to store a final charge, and the pause between them. */
const [MAX_ATTEMPTS, PAUSE_MS] = [60, 1_000];

/** A claim waits so long for a charge that is being stored, ms. */
const MAX_WAIT_MS = 2_000;

const LATE =
  "the deadline of a request passed before its charge was stored, so its last checkpoint counts; call meter.checkpoint " +
  "in long requests";

/** A spent token whose request runs. */
export interface Running extends TokenId {
  readonly holder: string;
  readonly rule: MeteredRule;
  readonly durationMs: number;
  /** When this process began to spend the token, by `performance.now()`: before the database sets the deadline. */
  readonly beganAt: number;
  /** Called with the final charge, base units. */
  onCharged(charge: bigint): void;
}

export interface RunningCharge {
  readonly meter: RequestMeter;
  /**
   * A failed request is charged nothing unless its handler kept the charge. Resolves before the charge is stored. Never
   * rejects.
   */
  finish(outcome: Outcome): Promise<void>;
  /** Charges what was used. Only the first end counts. Never rejects. */
  ended(): Promise<void>;
  /** Ends a request whose response is known before its headers leave. @returns what it is charged, base units */
  finalCharge(status: number): bigint;
}

/** Where charges are stored. */
interface ChargeStore {
  /** @returns whether it was stored, for each */
  update(updates: readonly ChargeUpdate[]): Promise<readonly boolean[]>;
}

interface Waiting {
  readonly update: ChargeUpdate;
  settle(isStored: boolean): void;
  fail(cause: unknown): void;
}

/** How long a request may still run, ms. */
function timeOf({ durationMs, beganAt }: Running): number {
  const margin = Math.min(MAX_MARGIN_MS, Math.max(MIN_MARGIN_MS, durationMs / 10));
  return Math.max(0, beganAt + durationMs - margin - performance.now());
}

const isFailure = (outcome: Outcome): boolean => typeof outcome === "number" && outcome >= 500;

export class Charges {
  readonly #store: ChargeStore;
  readonly #onError: (error: unknown) => void;
  readonly #batches = new Batches<Waiting>(LIMITS, (batch) => this.#write(batch));
  /** The requests that run, by token. */
  readonly #running = new Map<string, RunningCharge>();
  /** The final charges that are being stored, by token. */
  readonly #ending = new Map<string, Promise<void>>();
  #isClosed = false;

  constructor(store: ChargeStore, onError: (error: unknown) => void) {
    this.#store = store;
    this.#onError = onError;
  }

  /** Starts to count what a request uses. */
  start(running: Running): RunningCharge {
    const id = spendId(running);
    const meter = new RequestMeter(
      running.rule,
      this.#checkpoints(running, () => meter),
    );
    let end: Promise<void> | undefined;
    const endOnce = (isCharged: boolean): Promise<void> => {
      end ??= this.#end(id, running, meter, isCharged);
      return end;
    };
    const timer = setTimeout(() => void endOnce(true), timeOf(running)).unref();
    const charge: RunningCharge = {
      meter,
      // Nobody waits for the store: a failed response must leave while the store does not answer.
      async finish(outcome) {
        if ((outcome === "unstarted" || isFailure(outcome)) && !meter.isKept) void endOnce(false);
        else if (outcome === "aborted" || outcome === "unstarted") void endOnce(true);
      },
      async ended() {
        clearTimeout(timer);
        await endOnce(true);
      },
      finalCharge(status) {
        const isCharged = !isFailure(status) || meter.isKept;
        void endOnce(isCharged);
        return isCharged ? meter.charge : 0n;
      },
    };
    this.#running.set(id, charge);
    return charge;
  }

  /** Waits at most two seconds. @returns false if this process still stores the charge of the token */
  async stored(token: TokenId): Promise<boolean> {
    const ending = this.#ending.get(spendId(token));
    if (ending === undefined) return true;
    const stop = new AbortController();
    try {
      const late = sleep(MAX_WAIT_MS, false, { signal: stop.signal }).catch(() => false);
      return await Promise.race([ending.then(() => true), late]);
    } finally {
      stop.abort();
    }
  }

  /** Charges what the requests that still run have used, and resolves once all is stored. */
  async close(): Promise<void> {
    for (const charge of [...this.#running.values()]) void charge.ended();
    await this.#batches.end();
    this.#isClosed = true;
    await Promise.all(this.#ending.values());
  }

  /** Stores a final charge. If every attempt fails or comes after the deadline, the last checkpoint counts. Never rejects. */
  async #end(id: string, running: Running, meter: RequestMeter, isCharged: boolean): Promise<void> {
    meter.end();
    this.#running.delete(id);
    const { units, charge } = isCharged ? meter.counted : { units: {}, charge: 0n };
    const storing = this.#storeEnd(running, JSON.stringify(encodeUnitCounts(units)), charge);
    this.#ending.set(id, storing);
    await storing;
    this.#ending.delete(id);
  }

  async #storeEnd(running: Running, units: string, charge: bigint): Promise<void> {
    const { keyId, nonce, holder } = running;
    const update = { keyId, nonce, holder, units, charge: String(charge), ends: true };
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++)
      try {
        if (await this.#add(update)) running.onCharged(charge);
        else this.#onError(new PrepaidServerError("METER_ENDED", LATE));
        return;
      } catch (error) {
        this.#onError(error);
        if (this.#isClosed) return;
        await sleep(PAUSE_MS, undefined, { ref: false });
      }
  }

  /** Returns the function that stores what a request has used so far, at most every 250 ms; calls in between share one. */
  #checkpoints({ keyId, nonce, holder }: Running, meterOf: () => RequestMeter): () => Promise<void> {
    let next: Promise<void> | undefined;
    let last = Number.NEGATIVE_INFINITY;
    const store = async (): Promise<void> => {
      const pause = last + CHECKPOINT_MS - performance.now();
      if (pause > 0) await sleep(pause);
      next = undefined;
      last = performance.now();
      const { counted, hasEnded } = meterOf();
      const units = JSON.stringify(encodeUnitCounts(counted.units));
      const update = { keyId, nonce, holder, units, charge: String(counted.charge), ends: false };
      let isStored = false;
      try {
        // Never after the final charge, which it would replace.
        if (!hasEnded) isStored = await this.#add(update);
      } catch (cause) {
        throw new CheckUnavailable("STORE_UNAVAILABLE", 5, cause);
      }
      if (!isStored) throw new PrepaidServerError("METER_ENDED", "the request has ended, so nothing was stored");
    };
    return () => {
      next ??= store();
      return next;
    };
  }

  #add(update: ChargeUpdate): Promise<boolean> {
    return new Promise((settle, fail) => this.#batches.add({ update, settle, fail }));
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    // The last update of a token is the one that counts, and a final one is always the last.
    const updates = new Map(batch.map(({ update }) => [spendId(update), update]));
    const order = [...updates.keys()].sort();
    try {
      const stored = await this.#store.update(order.map((id) => updates.get(id)!));
      const isStored = new Set(order.filter((_, i) => stored[i]));
      for (const { update, settle } of batch) settle(isStored.has(spendId(update)));
    } catch (error) {
      for (const { fail } of batch) fail(error);
    }
  }
}
