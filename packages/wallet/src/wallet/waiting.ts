import { LOCAL_CHAIN_IDS } from "@sotto/protocol";
import type { Balance } from "./state.ts";

/** The part of a wallet that says what it waits for. */
export interface WaitingWallet {
  /** The balance as of the last scan. */
  balance(): Balance;
  /** Blocks required on top of an event before it counts. */
  readonly finality: number;
  /** Number of the newest block at the last scan. */
  readonly height: number;
  /** The chain of its pool. */
  readonly pool: { readonly chainId: bigint };
}

/** Why a wallet's notes are not spendable, as of its last scan. Amounts are base units. */
export interface Waiting {
  /** In blocks without enough confirmations. */
  pending: bigint;
  /** Confirmed, not yet appended to the tree. */
  queued: bigint;
  /** Held by payments that may still settle. */
  held: bigint;
  /** The first of these reasons that applies. */
  cause: "NO_BLOCKS" | "CONFIRMATIONS" | "APPEND" | "HELD" | "NONE";
}

/** Why a wallet with sufficient funds has to wait. @param since number of the newest block when the wait began */
export function waitingOf(wallet: WaitingWallet, since: number): Waiting {
  const { pending, queued, held } = wallet.balance();
  const unconfirmed = wallet.height > since ? "CONFIRMATIONS" : "NO_BLOCKS";
  const cause = pending > 0n ? unconfirmed : queued > 0n ? "APPEND" : held > 0n ? "HELD" : "NONE";
  return { pending, queued, held, cause };
}

/** The reason as text. */
export function describeWaiting(wallet: WaitingWallet, { pending, queued, held, cause }: Waiting): string {
  const { finality, height, pool } = wallet;
  const local = LOCAL_CHAIN_IDS.includes(pool.chainId);
  const confirmations = finality === 1 ? "1 confirmation" : `${finality} confirmations`;
  const stalled = `the chain has mined no block meanwhile (it is at block ${height})`;
  const parts = [
    ...(pending === 0n ? [] : [`${pending} base units wait for ${confirmations}`]),
    ...(cause === "NO_BLOCKS" ? [stalled] : []),
    ...(cause === "NO_BLOCKS" && local ? ["a local chain that mines for each transaction needs finality 0"] : []),
    ...(queued === 0n ? [] : [`${queued} base units wait for a relayer to append them to the tree`]),
    ...(held === 0n ? [] : [`${held} base units are held by payments that may still settle`]),
  ];
  return parts.length === 0 ? "notes became spendable only now" : parts.join("; ");
}
