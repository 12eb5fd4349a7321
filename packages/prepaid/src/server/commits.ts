// Stores claims and swaps, whose signatures leave this server once the guard has recorded that.
import { Batches } from "./batches.ts";
import type { Committed } from "./commit-order.ts";
import type { ClaimOutcome, StoredClaim, StoredSwap, SwapOutcome } from "./metered/store.ts";
import type { Progress } from "./progress.ts";
import type { Redemption } from "./redemption.ts";
import type { PrepaidStore } from "./store.ts";

/** One transaction for all that arrived while the previous one ran. */
const SHARED = { size: 50, running: 1, early: 50 };
/**
 * PostgreSQL locks each token as a swap spends it, in the order of tokens. Two swaps in one transaction would break this
 * order, and someone who shows their tokens at the same time could make other payers' requests fail in a deadlock.
 */
const ALONE = { size: 1, running: 1, early: 1 };

interface Waiting<Action, Outcome> {
  readonly action: Action;
  settle(outcome: Outcome): void;
  fail(cause: unknown): void;
}

export interface CommitParts {
  readonly store: PrepaidStore;
  readonly redemption: Pick<Redemption, "commit">;
  /**
   * Resolves once the guard has recorded what a transaction has committed.
   * @param run receives how far the store has come, as the guard knows
   * @throws CheckUnavailable if the store was restored or the guard cannot be written
   */
  guarded<T>(run: (known: Progress | undefined) => Promise<Committed<T> | "restored">): Promise<T>;
}

/** Of SQLite, claims and swaps share transactions, also with the tokens that are spent meanwhile. */
export class Commits {
  readonly #parts: CommitParts;
  readonly #claims: Batches<Waiting<StoredClaim, ClaimOutcome>>;
  readonly #swaps: Batches<Waiting<StoredSwap, SwapOutcome>>;
  readonly #shared: Batches<Waiting<StoredClaim | StoredSwap, ClaimOutcome | SwapOutcome>>;

  constructor(parts: CommitParts) {
    this.#parts = parts;
    this.#claims = new Batches(SHARED, (batch) => settling(batch, (claims) => this.#storeClaims(claims)));
    this.#swaps = new Batches(ALONE, (batch) => settling(batch, ([swap]) => this.#storeSwap(swap!)));
    this.#shared = new Batches(SHARED, (batch) => settling(batch, (actions) => this.#storeAll(actions)));
  }

  get #isSqlite(): boolean {
    return this.#parts.store.file !== undefined;
  }

  /** @throws as `guarded`; Error if the store fails */
  claim(action: StoredClaim): Promise<ClaimOutcome> {
    return new Promise((settle, fail) => {
      // Outcomes of claims and of swaps have different types, and each gets its own.
      if (this.#isSqlite) this.#shared.add({ action, settle: settle as (outcome: unknown) => void, fail });
      else this.#claims.add({ action, settle, fail });
    });
  }

  /** @throws as `guarded`; Error if the store fails */
  swap(action: StoredSwap): Promise<SwapOutcome> {
    return new Promise((settle, fail) => {
      if (this.#isSqlite) this.#shared.add({ action, settle: settle as (outcome: unknown) => void, fail });
      else this.#swaps.add({ action, settle, fail });
    });
  }

  /** Resolves once nothing waits. */
  async end(): Promise<void> {
    await Promise.all([this.#claims, this.#swaps, this.#shared].map((batches) => batches.end()));
  }

  #storeAll(actions: readonly (StoredClaim | StoredSwap)[]) {
    const { guarded, redemption } = this.#parts;
    return guarded((known) => redemption.commit({ actions, known }));
  }

  #storeClaims(claims: readonly StoredClaim[]): Promise<readonly ClaimOutcome[]> {
    const { guarded, store } = this.#parts;
    return guarded((known) => store.commit((db) => store.metered.claim(db, claims), known));
  }

  /** A swap that is refused writes nothing. */
  async #storeSwap(swap: StoredSwap): Promise<readonly SwapOutcome[]> {
    const { guarded, store } = this.#parts;
    const refused = new Error("the swap is refused");
    let made: SwapOutcome = "made";
    const run = (known: Progress | undefined) =>
      store.commit(async (db) => {
        made = await store.metered.swap(db, swap);
        if (made !== "made") throw refused;
      }, known);
    await guarded(run).catch((error: unknown) => {
      if (error !== refused) throw error;
    });
    return [made];
  }
}

async function settling<Action, Outcome>(
  batch: readonly Waiting<Action, Outcome>[],
  store: (actions: readonly Action[]) => Promise<readonly Outcome[]>,
): Promise<void> {
  try {
    const outcomes = await store(batch.map(({ action }) => action));
    for (const [i, { settle }] of batch.entries()) settle(outcomes[i]!);
  } catch (error) {
    for (const { fail } of batch) fail(error);
  }
}
