// Spends tokens: one durable statement for all tokens that arrived while the previous one ran.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { CheckUnavailable } from "../outcome.ts";
import { Batches } from "./batches.ts";
import { type PrepaidStore, type Spend, spendId } from "./store.ts";

/** Tokens in one statement. */
const MAX_BATCH = 500;
/** Tokens that wait for a statement. */
const MAX_WAITING = 10_000;

/** Attempts to restore a token of a failed statement, and the pause between them. */
const [MAX_RESTORES, RESTORE_PAUSE_MS] = [60, 1_000];

interface Waiting {
  readonly spend: Spend;
  /** @param holder undefined if the token was spent before */
  settle(holder: string | undefined): void;
  fail(error: unknown): void;
}

export class GroupCommit {
  readonly #store: PrepaidStore;
  readonly #onError: (error: unknown) => void;
  readonly #batches = new Batches<Waiting>(MAX_BATCH, (batch) => this.#commit(batch));
  /** Tokens that wait or are being spent, by id. */
  readonly #pending = new Map<string, Promise<string | undefined>>();
  readonly #restoring = new Set<Promise<unknown>>();
  #closed = false;

  constructor(store: PrepaidStore, onError: (error: unknown) => void) {
    this.#store = store;
    this.#onError = onError;
  }

  /**
   * Spends a token durably.
   *
   * @returns the holder, or undefined if the token was spent before or its key is closed
   * @throws CheckUnavailable STORE_UNAVAILABLE, OVERLOADED: then the token is not spent, or is returned
   */
  spend(spend: Spend): Promise<string | undefined> {
    const id = spendId(spend);
    const before = this.#pending.get(id);
    // The statement could not contain a token twice. If the first fails, this one may be shown again as well.
    if (before !== undefined) return before.then(() => undefined);
    if (this.#batches.waiting >= MAX_WAITING) return Promise.reject(new CheckUnavailable("OVERLOADED", 2));
    const spent = new Promise<string | undefined>((settle, fail) => this.#batches.add({ spend, settle, fail }));
    // A token whose statement failed stays pending until it is restored.
    spent.then(
      () => this.#pending.delete(id),
      () => undefined,
    );
    this.#pending.set(id, spent);
    return spent;
  }

  /** Resolves once every token that waits is spent or restored. */
  async end(): Promise<void> {
    await this.#batches.end();
    this.#closed = true;
    await Promise.all(this.#restoring);
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    const holder = randomBytes(12).toString("base64url");
    try {
      const spent = await this.#store.spend(
        batch.map(({ spend }) => spend),
        holder,
      );
      const shownBefore = batch.filter(({ spend }) => !spent.has(spendId(spend)));
      const again = await this.#store.spendReturned(
        shownBefore.map(({ spend }) => spend),
        holder,
      );
      for (const { spend, settle } of batch) {
        const id = spendId(spend);
        settle(spent.has(id) || again.has(id) ? holder : undefined);
      }
    } catch (cause) {
      const error = this.#failed(
        batch.map(({ spend }) => spend),
        holder,
        cause,
      );
      for (const { fail } of batch) fail(error);
    }
  }

  /** The statement may have been committed although its answer was lost, so what it spent is restored. */
  #failed(spends: readonly Spend[], holder: string, cause: unknown): CheckUnavailable {
    const restoring = Promise.all(spends.map((spend) => this.#restore(spend, holder)));
    this.#restoring.add(restoring);
    void restoring.finally(() => this.#restoring.delete(restoring));
    return new CheckUnavailable("STORE_UNAVAILABLE", 5, cause);
  }

  async #restore(spend: Spend, holder: string): Promise<void> {
    for (let attempt = 1; attempt <= MAX_RESTORES && !this.#closed; attempt++)
      try {
        await this.#store.restore(spend, holder);
        break;
      } catch (error) {
        this.#onError(error);
        await sleep(RESTORE_PAUSE_MS, undefined, { ref: false });
      }
    this.#pending.delete(spendId(spend));
  }
}
