// Verifies and spends tokens, in batches: one durable statement for all tokens that arrived while the previous ran. In
// SQLite, its thread stores in the same transactions what metered requests used, claims and swaps.

import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { CheckFailed, CheckUnavailable } from "@sotto/resource-server";
import { PREPAID_TOKEN_LAYOUT } from "../index.ts";
import { Batches } from "./batches.ts";
import type { CommitAnswer, CommitOrder } from "./commit-order.ts";
import type { Key } from "./keyring.ts";
import type { ChargeUpdate } from "./metered/store.ts";
import type { OrderAnswer, SpenderData, ThreadOrder } from "./spender-worker.ts";
import type { PrepaidStore, Spend } from "./store.ts";
import { Thread } from "./thread.ts";
import { spendId } from "./token-id.ts";

/**
 * Tokens in one order, orders at the same time, and tokens that make an order at once. While the thread carries out one
 * order, the next ones wait for it, and it carries those out together. An early order lets it begin before this thread has
 * read the requests of all connections.
 */
const LIMITS = { size: 100, running: 4, early: 32 };
/** Tokens that wait for an order: less than a second of work. */
const MAX_WAITING = 10_000;

/** Seconds after which a token may be shown again if the store failed. */
const RETRY_S = 5;
/** Attempts to restore a token of a failed batch, and the pause between them. */
const [MAX_RESTORES, RESTORE_PAUSE_MS] = [60, 1_000];

interface Waiting {
  /** The request header of the token. */
  readonly header: string;
  readonly spend: Spend;
  /** @param holder undefined if the token was spent before */
  settle(holder: string | undefined): void;
  fail(error: unknown): void;
}

export interface SpenderParts {
  readonly keys: readonly Key[];
  readonly store: PrepaidStore;
  readonly clock: () => number;
  readonly onError: (error: unknown) => void;
}

export class Spender {
  readonly #store: PrepaidStore;
  readonly #clock: () => number;
  readonly #onError: (error: unknown) => void;
  readonly #thread: Thread<ThreadOrder, OrderAnswer>;
  readonly #batches = new Batches<Waiting>(LIMITS, (batch) => this.#spendBatch(batch));
  /** Ids of the tokens of failed batches that are not restored yet, and how many batches they were in. */
  readonly #unsettled = new Map<string, number>();
  readonly #restoring = new Set<Promise<unknown>>();
  /** Random, so that no two processes have the same holders. */
  readonly #id = randomBytes(12).toString("base64url");
  #orders = 0;
  #closed = false;

  constructor({ keys, store, clock, onError }: SpenderParts) {
    this.#store = store;
    this.#clock = clock;
    this.#onError = onError;
    const data: SpenderData = {
      keys: new Map(keys.map(({ id, publicKey }) => [id, publicKey])),
      layout: PREPAID_TOKEN_LAYOUT,
      database: store.file,
    };
    this.#thread = new Thread("spender-worker", data);
  }

  /**
   * Spends a token durably if it is signed.
   * @param header the header of the token, well-formed and of one of the keys
   * @returns the holder, or undefined if the token was spent before or its key is closed
   * @throws CheckFailed PREPAID_SIGNATURE; CheckUnavailable OVERLOADED, VERIFIER_FAILED, STORE_UNAVAILABLE: then the token
   *   is not spent, or is returned
   */
  spend(header: string, spend: Spend): Promise<string | undefined> {
    if (this.#batches.waiting >= MAX_WAITING) return Promise.reject(new CheckUnavailable("OVERLOADED", 2));
    return new Promise((settle, fail) => this.#batches.add({ header, spend, settle, fail }));
  }

  /**
   * Stores what requests used, unless their deadlines have passed.
   * @param updates at most one for each token
   * @returns whether it was stored, for each
   * @throws Error if the store or the thread failed; it may be stored nevertheless
   */
  async update(updates: readonly ChargeUpdate[]): Promise<readonly boolean[]> {
    if (this.#store.file === undefined) return this.#store.metered.update(updates);
    const { done, failure } = await this.#thread.run({ updates, now: this.#clock() });
    if (done === undefined) throw new Error(failure);
    return done;
  }

  /**
   * Stores claims and swaps, for SQLite only.
   * @throws Error if the store or the thread failed; they may be stored nevertheless
   */
  async commit(order: CommitOrder): Promise<CommitAnswer> {
    const { committed, failure } = await this.#thread.run(order);
    if (committed === undefined) throw new Error(failure);
    return committed;
  }

  /** Resolves once every token that waits is spent, refused or restored. */
  async end(): Promise<void> {
    await this.#batches.end();
    await this.#thread.close();
    this.#closed = true;
    await Promise.all(this.#restoring);
  }

  async #spendBatch(batch: readonly Waiting[]): Promise<void> {
    const holder = `${this.#id}.${++this.#orders}`;
    let answer: OrderAnswer;
    try {
      const tokens = batch.map(({ header }) => header).join("");
      const spends = batch.map(({ spend }) => spend.metered);
      const metered = spends.some((one) => one !== undefined) ? { now: this.#clock(), spends } : undefined;
      answer = await this.#thread.run({ tokens, holder, metered });
    } catch (cause) {
      // The thread may have spent them before it ended.
      if (this.#store.file !== undefined) this.#restoreAll(batch, holder);
      for (const { fail } of batch) fail(new CheckUnavailable("VERIFIER_FAILED", 2, cause));
      return;
    }
    const { signed, done, failure } = answer;
    for (const [i, { fail }] of batch.entries()) if (!signed[i]) fail(new CheckFailed("PREPAID_SIGNATURE"));
    const valid = batch.filter((_, i) => signed[i]);
    if (valid.length === 0) return;
    try {
      if (failure !== undefined) throw new Error(failure);
      const isSpent = done === undefined ? await this.#insert(valid, holder) : done.filter((_, i) => signed[i]);
      await this.#settle(valid, isSpent, holder);
    } catch (cause) {
      // The statement may have been committed although its answer was lost.
      this.#restoreAll(valid, holder);
      for (const { fail } of valid) fail(new CheckUnavailable("STORE_UNAVAILABLE", RETRY_S, cause));
    }
  }

  /** Spends tokens in PostgreSQL, each at most once. @returns whether this call spent the token, for each */
  async #insert(batch: readonly Waiting[], holder: string): Promise<boolean[]> {
    const unique = new Map<string, Spend>();
    // What is stored with a token is that of its first request, which is the one that succeeds below.
    for (const { spend } of batch) if (!unique.has(spendId(spend))) unique.set(spendId(spend), spend);
    // In one order, so that two servers never wait for each other.
    const order = [...unique.keys()].sort();
    const spent = await this.#store.spend(
      order.map((id) => unique.get(id)!),
      holder,
    );
    return batch.map(({ spend }) => spent.delete(spendId(spend)));
  }

  /** Spends the others if they were returned, and settles all. */
  async #settle(batch: readonly Waiting[], isSpent: readonly boolean[], holder: string): Promise<void> {
    const before = batch.filter((_, i) => !isSpent[i]);
    // Read before the query, because its answer may lack tokens that are restored from now on.
    const unsettled = new Set(before.filter(({ spend }) => this.#unsettled.has(spendId(spend))));
    const again = await this.#store.spendReturned(
      before.flatMap(({ spend }) => (spend.metered === undefined ? [spend] : [])),
      holder,
    );
    for (const [i, waiting] of batch.entries())
      if (isSpent[i] || again.delete(spendId(waiting.spend))) waiting.settle(holder);
      else if (unsettled.has(waiting)) waiting.fail(new CheckUnavailable("STORE_UNAVAILABLE", RETRY_S));
      else waiting.settle(undefined);
  }

  /** Restores the tokens that a failed batch may have spent. Those of metered routes stay spent, and are charged nothing. */
  #restoreAll(batch: readonly Waiting[], holder: string): void {
    const restoring = Promise.all(batch.map(({ spend }) => this.#restore(spend, holder)));
    this.#restoring.add(restoring);
    void restoring.finally(() => this.#restoring.delete(restoring));
  }

  async #restore(spend: Spend, holder: string): Promise<void> {
    const id = spendId(spend);
    this.#unsettled.set(id, (this.#unsettled.get(id) ?? 0) + 1);
    for (let attempt = 1; attempt <= MAX_RESTORES && !this.#closed; attempt++)
      try {
        if (spend.metered === undefined) await this.#store.restore(spend, holder);
        else await this.#store.metered.update([{ ...spend, holder, units: "{}", charge: "0", ends: true }]);
        break;
      } catch (error) {
        this.#onError(error);
        await sleep(RESTORE_PAUSE_MS, undefined, { ref: false });
      }
    const others = this.#unsettled.get(id)! - 1;
    if (others === 0) this.#unsettled.delete(id);
    else this.#unsettled.set(id, others);
  }
}
