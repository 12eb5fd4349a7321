import { LOCAL_CHAIN_IDS } from "@sotto/protocol";
import type { Operation } from "../store/index.ts";
import { latestTime, MAX_REVERTS, type RelayerContext, type Round } from "./context.ts";

/** What became of an operation. */
export type Verdict =
  | { state: "settled"; txHash: string; blockNumber: number; ours: boolean; gasPaidBy?: string | undefined }
  | { state: "failed" | "expired"; reason: string };

/** Operations of one kind that a round asks the chain about, at most. */
export const MAX_ASKED = 128;

/** Reasons for which something that ran out of time has failed rather than expired. */
const OWN_REASONS = /^(REORGANISED|REVERTED|GAS_BUDGET_EXHAUSTED|FEES_TOO_HIGH|QUOTA_EXCEEDED|UNKNOWN_ROOT)/;

/**
 * Why nothing of an operation can land any more, if the chain shows nothing of it: it was refused too often, or it is
 * out of time. Undefined while it may still land.
 */
export function verdictUnlessDone(
  context: RelayerContext,
  { kind, state, reverts, reason, validUntil }: Operation,
  round: Round,
): Verdict | undefined {
  if (kind !== "payment" && state === "queued" && reverts >= MAX_REVERTS)
    return { state: "failed", reason: reason ?? "REVERTED" };
  // The contract refuses it after its date, so once a block later than that has its confirmations, nothing of it can
  // land. A local chain makes no blocks while nobody uses it: there this machine's clock has to do.
  const local = LOCAL_CHAIN_IDS.includes(context.pool.chainId);
  const idle = local && latestTime(context, round) > validUntil + 1;
  if (round.confirmedTimestamp <= validUntil && !idle) return undefined;
  if (reason !== undefined && OWN_REASONS.test(reason)) return { state: "failed", reason };
  return { state: "expired", reason: "EXPIRED" };
}

/** Takes at most `MAX_ASKED` of a list, others each time: no entry that takes long keeps the rest waiting. */
export class Rotation {
  #start = 0;

  take<T>(list: readonly T[]): readonly T[] {
    if (list.length <= MAX_ASKED) return list;
    const start = this.#start % list.length;
    this.#start = start + MAX_ASKED;
    return [...list.slice(start), ...list.slice(0, start)].slice(0, MAX_ASKED);
  }
}
