// Stores claims and swaps, whose signatures leave this server once the guard has recorded that.
import { Batches, type BatchLimits } from "./batches.ts";
import type { Committed, FailedAction } from "./commit-order.ts";
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

/** Actions that wait to be stored. */
type Queue<Action, Outcome> = Pick<Batches<Waiting<Action, Outcome>>, "add" | "end">;

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

/** In SQLite, claims and swaps share transactions, also with the tokens that are spent meanwhile. */
export class Commits {
  readonly #claims: Queue<StoredClaim, ClaimOutcome>;
  readonly #swaps: Queue<StoredSwap, SwapOutcome>;

  constructor({ store, redemption, guarded }: CommitParts) {
    if (store.file === undefined) {
      this.#claims = queueOf(SHARED, (claims) =>
        guarded((known) => store.commit((db) => store.metered.claim(db, claims), known)),
      );
      this.#swaps = queueOf(ALONE, ([swap]) =>
        guarded((known) => store.commit(async (db) => [await store.metered.swap(db, swap!)], known)),
      );
    } else {
      const shared = queueOf<StoredClaim | StoredSwap, ClaimOutcome | SwapOutcome>(SHARED, (actions) =>
        guarded((known) => redemption.commit({ actions, known })),
      );
      this.#claims = shared;
      this.#swaps = shared;
    }
  }

  /** @throws as `guarded`; Error if the store fails */
  claim(action: StoredClaim): Promise<ClaimOutcome> {
    return add(this.#claims, action);
  }

  /** @throws as `guarded`; Error if the store fails */
  swap(action: StoredSwap): Promise<SwapOutcome> {
    return add(this.#swaps, action);
  }

  /** Resolves once nothing waits. */
  async end(): Promise<void> {
    await Promise.all([this.#claims.end(), this.#swaps.end()]);
  }
}

/** @param store stores actions in one transaction; its error fails all of them */
function queueOf<Action, Outcome>(
  limits: BatchLimits,
  store: (actions: readonly Action[]) => Promise<readonly (Outcome | FailedAction)[]>,
): Queue<Action, Outcome> {
  return new Batches<Waiting<Action, Outcome>>(limits, async (batch) => {
    try {
      const outcomes = await store(batch.map(({ action }) => action));
      for (const [i, { settle, fail }] of batch.entries()) {
        const outcome = outcomes[i]!;
        if (isFailed(outcome)) fail(new Error(outcome.failure));
        else settle(outcome);
      }
    } catch (error) {
      for (const { fail } of batch) fail(error);
    }
  });
}

const add = <Action, Outcome>(queue: Queue<Action, Outcome>, action: Action): Promise<Outcome> =>
  new Promise((settle, fail) => queue.add({ action, settle, fail }));

const isFailed = (outcome: unknown): outcome is FailedAction =>
  typeof outcome === "object" && outcome !== null && "failure" in outcome;
