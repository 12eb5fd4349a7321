// The wallet's spends, by the event that shows them.
import type { Wallet, WalletNote, WalletSpend } from "@sotto/wallet";
import type { LeafAt } from "../core/mask-tree.ts";
import { ROOT_GRACE_SECONDS } from "../core/root-history.ts";
import type { Book, BookedSet } from "./book.ts";
import type { ClaimRecord } from "./records.ts";

/** A payment, merge or withdrawal of the wallet, and the notes that it spent. */
export interface Spent {
  readonly leaves: readonly number[];
  readonly nullifiers: readonly bigint[];
  readonly by: WalletSpend["by"];
  readonly transactionHash: string;
  readonly blockNumber: number;
  /** Time of its block, seconds. */
  readonly timestamp: number;
  readonly confirmed: boolean;
  readonly shown: WalletSpend["shown"];
}

/** The spends of a wallet, in the order of the chain. */
export function spentBy(wallet: Pick<Wallet, "spends">): Spent[] {
  const events = new Map<string, Spent>();
  for (const spend of wallet.spends()) {
    const place = `${spend.transactionHash} ${spend.digest}`;
    const { leaves = [], nullifiers = [] } = events.get(place) ?? {};
    const notes = { leaves: [...leaves, spend.leafIndex], nullifiers: [...nullifiers, spend.nullifier] };
    events.set(place, { ...spend, ...notes });
  }
  return [...events.values()].sort((a, b) => a.blockNumber - b.blockNumber);
}

/** Whether a note came from this spend: its change, or its merged note. */
export const isMadeBy = (note: WalletNote, { transactionHash, shown, by }: Spent): boolean =>
  note.transactionHash === transactionHash &&
  (by === "withdrawal" ? note.origin === "output" : note.commitment === shown?.changeCommitment);

/**
 * How far the claims of a spend are. confirmations: its block has too few. outside: a note that it spent is not in the set.
 * earlier: it was spent before the wallet followed the set. due: claims can be sent. done: the curator has them. refused: the curator
 * refuses one. late: a root was shown more than an hour before the note was spent, so the claim does not count.
 */
export type SpendState = "confirmations" | "outside" | "earlier" | "due" | "done" | "refused" | "late";

/** Results of the curator's endpoint that end a claim. */
const DONE: readonly string[] = ["stored", "known"];
const REFUSED: readonly string[] = ["ORIGIN_CLAIM_CONFLICT", "ORIGIN_PROOF_INVALID", "ORIGIN_ROOT_STALE"];

export const isDone = ({ result }: ClaimRecord): boolean => result !== null && DONE.includes(result);
export const isRefused = ({ result }: ClaimRecord): boolean => result !== null && REFUSED.includes(result);

/** Whether a claim's root is still good for a payment of this time, seconds. */
export const isGood = ({ until }: ClaimRecord, time: number): boolean =>
  until === null || until > time - ROOT_GRACE_SECONDS;

/** How far the claims of a spend are, in one set. */
export function stateOf(book: Book, { record, view }: BookedSet, spent: Spent): SpendState {
  const { confirmed, nullifiers, leaves, blockNumber, timestamp } = spent;
  if (!confirmed) return "confirmations";
  const claims = nullifiers.map((nullifier) => book.claim(record, nullifier));
  const isEarlier = blockNumber <= record.since && claims.some((claim) => claim === undefined);
  if (claims.some((claim, i) => claim === undefined && view?.has(leaves[i]!) !== true)) return "outside";
  if (isEarlier) return "earlier";
  const known = claims.filter((claim) => claim !== undefined);
  if (known.some(isRefused)) return "refused";
  if (known.some((claim) => !isGood(claim, timestamp))) return "late";
  return known.length === claims.length && known.every(isDone) ? "done" : "due";
}

/** The pool's leaves as the wallet knows them. */
export const leavesOf =
  (wallet: Pick<Wallet, "leafAt">): LeafAt =>
  (index) =>
    wallet.leafAt(index) ?? 0n;
