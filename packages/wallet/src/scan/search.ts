// Finds payments to addresses of other months than their block's, such as one made by a program that does not know months. A
// scan tries each payment with few keys, so it does not see them.

import { ChainError, type ChainSource, queuedLeaves, type SettledEvent } from "@sotto/chain";
import type { Month } from "@sotto/protocol";
import type { StoreValue } from "../store/store.ts";
import type { NoteReader } from "./note-reader.ts";
import { paymentGroup } from "./payment-group.ts";
import { isSettled, poolEvents } from "./pool-events.ts";
import type { KeyOf, LateKeys, ScanKeys } from "./scan-keys.ts";

/** A payment that a search found. */
export interface LatePayment {
  readonly leafIndex: number;
  /** Decimal: after a reorganization, the leaf may be another one. */
  readonly commitment: string;
  /** The month of the paid address; null for the lasting address. */
  readonly month: Month | null;
}

/** How far a wallet has searched, and what it found: written before pages are read again with these keys. */
export interface SearchRecord {
  /** First block that was not searched. */
  readonly next: number;
  readonly found: readonly LatePayment[];
}

/** @returns undefined if the value is no record of a search, so that the search begins again */
export function parseSearch(value: StoreValue | undefined): SearchRecord | undefined {
  const { next, found } = Object(value) as Partial<SearchRecord>;
  return Number.isSafeInteger(next) && Array.isArray(found) ? (value as unknown as SearchRecord) : undefined;
}

/** Blocks that were searched, and the payments found in them. */
export interface SearchedBlocks {
  readonly from: number;
  readonly to: number;
  /** Last block that can be searched now. */
  readonly end: number;
  /** All leaves of these blocks. */
  readonly leaves: readonly bigint[];
  readonly found: readonly LatePayment[];
}

/** The keys of the found payments, as far as they are still given. */
export function lateKeys({ found }: SearchRecord, keys: Pick<ScanKeys, "of"> | undefined): LateKeys {
  return new Map(
    found.flatMap(({ leafIndex, month }) => {
      const key = keys?.of(month ?? undefined);
      return key === undefined ? [] : [[leafIndex, key]];
    }),
  );
}

export const isSameLeaves = (one: readonly bigint[], other: readonly bigint[]): boolean =>
  one.length === other.length && one.every((leaf, i) => leaf === other[i]);

/** A range of blocks to search, and the keys. */
export interface SearchRange {
  readonly chain: ChainSource;
  readonly pool: string;
  readonly from: number;
  readonly to: number;
  readonly keys: Pick<ScanKeys, "ownerTag">;
  /** All viewing keys. */
  readonly viewing: readonly KeyOf<bigint>[];
  readonly reader: NoteReader;
  /** The leaves that the scan read from blocks. */
  readonly leavesOf: (from: number, to: number) => readonly bigint[];
  /** Whether the scan found the payment already. */
  readonly isKnown: (payment: SettledEvent) => boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Payments that are tried before the search looks whether it was stopped. */
const SLICE = 256;
/** Payments that are tried before the result is stored; more if one block has more. With 40 keys, that takes about a second. */
const MAX_PAYMENTS = 2_048;

/** The payments that are tried together, and the last block whose payments are all among them. */
function firstOf(payments: readonly SettledEvent[], to: number): { payments: readonly SettledEvent[]; to: number } {
  const next = payments[MAX_PAYMENTS]?.blockNumber;
  if (next === undefined) return { payments, to };
  const last = Math.max(next - 1, payments[0]!.blockNumber);
  return { payments: payments.filter(({ blockNumber }) => blockNumber <= last), to: last };
}

/**
 * Tries each payment of a range of blocks with all keys. Nodes see requests for all payments, so they do not see which were found.
 * @returns what it found, and the last block that it searched: earlier than the range's if that has many payments
 * @throws ChainError NODE_INCONSISTENT if the node omits or invents events; the signal's reason
 */
export async function searchRange(range: SearchRange): Promise<Omit<SearchedBlocks, "end">> {
  const { chain, pool, from, keys, viewing, reader, leavesOf, isKnown, signal } = range;
  const events = await poolEvents(chain, pool, { from, to: range.to, signal });
  if (!isSameLeaves(events.flatMap(queuedLeaves), leavesOf(from, range.to)))
    throw new ChainError("NODE_INCONSISTENT", "the node has other events than those that were scanned; try again");
  const unknown = events.filter(isSettled).filter((one) => !isKnown(one));
  const { payments, to } = firstOf(unknown, range.to);
  const found: LatePayment[] = [];
  for (let first = 0; first < payments.length; first += SLICE) {
    signal?.throwIfAborted();
    const slice = payments.slice(first, first + SLICE);
    const { viewer, own } = paymentGroup(keys.ownerTag, viewing, slice);
    for (const [i, note] of own(await reader.read(viewer, slice)).entries()) {
      const { leafIndex, recipientCommitment } = slice[i]!;
      // A scan keeps no payments of 0.
      if (note !== null && note.amount > 0n)
        found.push({ leafIndex, commitment: String(recipientCommitment), month: note.month ?? null });
    }
  }
  // Of the events that were tried: a scan may have replaced the blocks meanwhile.
  const leaves = events.filter(({ blockNumber }) => blockNumber <= to).flatMap(queuedLeaves);
  return { from, to, leaves, found };
}
