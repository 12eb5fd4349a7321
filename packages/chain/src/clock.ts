// Compares a machine's clock with the chain's time, which decides when proofs and authorizations expire.
import { LOCAL_CHAIN_IDS } from "@sotto/protocol";
import type { Block } from "./rpc/values.ts";
import type { ChainSource } from "./source.ts";

/**
 * Maximum seconds by which a clock may be ahead of the chain's time. A block shows its time only when it is mined, and
 * nodes learn of it later, so a smaller difference proves nothing.
 */
export const MAX_CLOCK_LEAD_SECONDS = 90;

/** The newest block, and the source to ask if that block is old. */
export interface ClockReference {
  /** Where to ask for the block that is mined next. */
  readonly chain: Pick<ChainSource, "pending">;
  readonly head: Block;
  /** The clock's time, ms. */
  readonly now: number;
  /** The EIP-155 id of the chain. */
  readonly chainId: bigint;
}

/**
 * The chain's time, seconds, with which a clock can be compared; undefined if the newest block is old, and either the clock
 * or the chain may be the reason.
 *
 * The current time is not before that of the newest block. If the clock is far ahead of it, either the clock is wrong or no block
 * was mined for a while. In that case, the node is asked for the block that it would mine now, whose time is current on
 * every chain. Without an answer, the newest block counts, except on a local chain, which may mine blocks only for transactions.
 */
export async function chainTime({ chain, head, now, chainId }: ClockReference): Promise<number | undefined> {
  if (now / 1000 - head.timestamp <= MAX_CLOCK_LEAD_SECONDS) return head.timestamp;
  const next = await chain.pending?.();
  // Some nodes return the newest block instead.
  if (next !== undefined && (next.number ?? head.number + 1) > head.number)
    return Math.max(next.timestamp, head.timestamp);
  return LOCAL_CHAIN_IDS.includes(chainId) ? undefined : head.timestamp;
}

/** Seconds by which a clock is ahead of the chain's time; negative if it is behind. @param now ms */
export const clockLead = (now: number, time: number): number => Math.floor(now / 1000) - time;
