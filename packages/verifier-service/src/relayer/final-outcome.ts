// How the relayer's names relate:
// - An operation is a stored payment, deposit or withdrawal; docs/operations-run.md describes its states.
// - A `FinalOutcome` is how an operation ended: settled, failed or expired. The resolvers decide it from events, receipts
//   and views of the chain (chain-reads.ts), and it is stored with the operation.
// - An `Outcome` (types.ts) is what the operation's client sees: pending, settled or failed.
// - `OutcomeWaiters` are the HTTP requests that wait for an `Outcome`.
import { LOCAL_CHAIN_IDS } from "@sotto/protocol";
import type { Operation } from "../store/index.ts";
import { latestTime, MAX_REVERTS, type RelayerContext, type Round } from "./context.ts";

/** How an operation ended. */
export type FinalOutcome =
  | { state: "settled"; txHash: string; blockNumber: number; ours: boolean; gasPaidBy?: string | undefined }
  | { state: "failed" | "expired"; reason: string };

/** Maximum operations of one kind that a round checks on chain. */
const MAX_CHECKED_OPERATIONS = 128;

/** Why a deposit is deferred whose authorization another transaction has used. */
export const AUTHORIZATION_USED = "AUTHORIZATION_USED";

/** With reasons that begin with these, an operation that reaches its deadline has failed; otherwise it has expired. */
export const OWN_REASONS = [
  "UNKNOWN_ROOT",
  "REORGANISED",
  "REVERTED",
  "GAS_BUDGET_EXHAUSTED",
  "FEES_TOO_HIGH",
  "QUOTA_EXCEEDED",
  "RELAYER_BALANCE_LOW",
  "SIGNER_UNAVAILABLE",
  "SIGNER_REFUSED",
  "SIGNER_MISMATCH",
] as const;

/**
 * How an operation without an event on chain failed: it reverted too often, or its deadline has passed. Undefined while
 * it may still succeed.
 */
export function checkFailure(
  context: RelayerContext,
  { kind, state, reverts, reason, validUntil }: Operation,
  round: Round,
): FinalOutcome | undefined {
  if (kind !== "payment" && state === "queued" && reverts >= MAX_REVERTS)
    return { state: "failed", reason: reason ?? "REVERTED" };
  // The contract refuses it after its deadline, so it cannot succeed once a later block is confirmed. A local chain makes no
  // blocks while it is idle, so there the clock of this machine decides.
  const local = LOCAL_CHAIN_IDS.includes(context.pool.chainId);
  const idle = local && latestTime(context, round) > validUntil + 1;
  if (round.confirmedTimestamp <= validUntil && !idle) return undefined;
  if (reason !== undefined && OWN_REASONS.some((own) => reason.startsWith(own))) return { state: "failed", reason };
  return { state: "expired", reason: "EXPIRED" };
}

/** Takes at most `MAX_CHECKED_OPERATIONS` entries of a list, in rotation, so that every entry gets its turn. */
export class Rotation {
  #start = 0;

  take<T>(list: readonly T[]): readonly T[] {
    if (list.length <= MAX_CHECKED_OPERATIONS) return list;
    const start = this.#start % list.length;
    this.#start = start + MAX_CHECKED_OPERATIONS;
    return [...list.slice(start), ...list.slice(0, start)].slice(0, MAX_CHECKED_OPERATIONS);
  }
}
