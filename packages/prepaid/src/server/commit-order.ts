// Claims and swaps that are stored together, and what became of them.
import type { ClaimOutcome, StoredClaim, StoredSwap, SwapOutcome } from "./metered/store.ts";
import type { Progress } from "./progress.ts";

/** A transaction that was committed; no progress if it has written nothing. */
export interface Committed<T> {
  readonly result: T;
  readonly progress: Progress | undefined;
}

/** Claims and swaps for the thread that writes to SQLite. */
export interface CommitOrder {
  /** Each on its own: one that is refused or fails writes nothing. */
  readonly actions: readonly (StoredClaim | StoredSwap)[];
  /** How far the store has come, as the guard knows. If it comes no further, it was restored, and nothing is written. */
  readonly known: Progress | undefined;
}

/** Why a claim or swap failed. It has written nothing. */
export interface FailedAction {
  readonly failure: string;
}

/** What became of each claim and swap. */
export type CommitAnswer = Committed<readonly (ClaimOutcome | SwapOutcome | FailedAction)[]> | "restored";

/** Whether a claim or swap has changed the store. */
export function hasWritten(outcome: ClaimOutcome | SwapOutcome | FailedAction): boolean {
  return outcome === "made" || (typeof outcome === "object" && "isNew" in outcome && outcome.isNew);
}
