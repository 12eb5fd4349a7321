// Takes the newest head of a set, if everything about it is right.
import { SottoError } from "@sotto/protocol";
import { assertBitmap, CHUNK_BYTES } from "../core/bitmap.ts";
import { encodeHead, headDigest, type OriginHead, type SignedHead } from "../core/head.ts";
import { MAX_HEAD_LEAD_MS } from "../core/heads.ts";
import { manifestBytes } from "../core/manifest.ts";
import { bitmapPath, manifestPath } from "../core/publication.ts";
import type { OriginSet } from "../core/set.ts";
import type { Book } from "./book.ts";
import { type Download, downloadHashed } from "./download.ts";
import { OriginError } from "./errors.ts";
import { Equivocation, readHeads } from "./heads.ts";
import type { OriginsWallet } from "./options.ts";
import type { ClaimRecord, SetKey, SetRecord, StoppedRecord } from "./records.ts";
import { chunkOf, type SetView } from "./view.ts";

/** How many leaves heads may remove before the wallet asks its owner: the smaller of a number and a share of the set. */
export interface RemovalLimit {
  /** Number of leaves. */
  readonly leaves: number;
  /** Part of the set, 0 to 1. At least one leaf may go. */
  readonly share: number;
}

/** What syncing a set needs. */
export interface SyncContext {
  readonly wallet: OriginsWallet;
  readonly book: Book;
  readonly access: Download;
  readonly removals: RemovalLimit;
}

/** What a sync found out about a set. */
export interface SyncedSet {
  /** Whether there is a new head. */
  readonly isTaken: boolean;
  /** Whether the head that the wallet has now is on the chain, and has the root of the newest one that the curator shows. */
  readonly isNewest: boolean;
}

/**
 * Reads the newest head and its files, and takes it. The wallet must have scanned before.
 * @param gone called if the block of the head that the wallet took is not on the chain any more: nothing may be proved with it
 * @throws OriginError; the signal's reason
 */
export async function syncSet(context: SyncContext, key: SetKey, gone: () => void): Promise<SyncedSet> {
  const { wallet, book, access } = context;
  const { record, view } = book.set(key)!;
  assertGoing(record);
  const { chainId, pool } = wallet.pool;
  const set: OriginSet = { chainId: Number(chainId), pool, curator: record.curator, name: record.name };
  const last = view?.signed;
  const seen = book.seen(record);
  const isThere = last !== undefined && (await hasBlock(wallet, last.head));
  if (last !== undefined && !isThere) gone();
  const heads = await readHeads(access, { set, url: record.url, mirrors: record.mirrors }, last, seen);
  if (heads instanceof Equivocation) return stop(context, key, equivocated(heads), heads.heads);
  if (seen === undefined || headDigest(heads.seen.head) !== headDigest(seen.head))
    await book.putSet({ ...book.set(key)!.record, seen: encodeHead(heads.seen) });
  // A note may have come since the head was taken. A head whose block is gone convicts nobody.
  if (isThere) await checkOwnChunks(context, key, view!, record.checked);
  const { next, replacedAt } = heads;
  // A mirror that holds heads back must not make an old one pass as the newest.
  const isNewest = ({ head }: SignedHead) => head.maskRoot === heads.seen.head.maskRoot;
  if (next === undefined || !(await isOnChain(wallet, next)))
    return { isTaken: false, isNewest: isThere && isNewest(last) };
  await take(context, key, next, replacedAt);
  return { isTaken: true, isNewest: isNewest(next) };
}

/** Whether the chain has the block of a head, with its time. */
export async function hasBlock({ chain }: Pick<OriginsWallet, "chain">, head: OriginHead): Promise<boolean> {
  const block = await chain.block(head.block);
  return block?.hash === head.blockHash && block.timestamp === head.blockTime;
}

/** @throws OriginError if the wallet has stopped to follow the curator */
export function assertGoing({ stopped }: SetRecord): void {
  if (stopped !== null) throw new OriginError(stopped.code, stopped.message);
}

/** @returns false if the wallet has not confirmed the block yet @throws OriginError ORIGIN_BLOCK_UNKNOWN, CURATOR_HEAD_INVALID */
async function isOnChain(wallet: OriginsWallet, { head }: SignedHead): Promise<boolean> {
  if (head.time * 1000 > wallet.now() + MAX_HEAD_LEAD_MS)
    throw new OriginError(
      "CURATOR_HEAD_INVALID",
      `head ${head.number} is dated more than ten minutes ahead of this clock`,
    );
  if (head.block > (wallet.confirmed?.number ?? -1)) return false;
  const block = await wallet.chain.block(head.block);
  if (block?.hash !== head.blockHash)
    throw new OriginError(
      "ORIGIN_BLOCK_UNKNOWN",
      `head ${head.number} is of the block ${head.blockHash}, but the chain has ${block?.hash ?? "no block"} with number ${head.block}`,
    );
  if (block.timestamp !== head.blockTime)
    throw new OriginError(
      "CURATOR_HEAD_INVALID",
      `head ${head.number} says that block ${head.block} has the time ${head.blockTime}, but it has ${block.timestamp}`,
    );
  const size = wallet.treeSizeAt(head.block);
  if (size !== head.leaves)
    throw new OriginError(
      "CURATOR_HEAD_INVALID",
      `head ${head.number} says that the pool's tree has ${head.leaves} leaves at block ${head.block}, but it has ${size}`,
    );
  return true;
}

/** @param replacedAt time of the block of the first head with another root than the last one, seconds; undefined if none has */
async function take(
  context: SyncContext,
  key: SetKey,
  signed: SignedHead,
  replacedAt: number | undefined,
): Promise<void> {
  const { book, access } = context;
  const { record, view: before } = book.set(key)!;
  const { head } = signed;
  const path = manifestPath(head.manifest);
  const manifest = await downloadHashed(access, record.url, path, head.manifest, manifestBytes(head.leaves));
  const chunks = await orStop(context, key, signed, () => book.chunksIn(manifest, head));
  const bitmaps: Uint8Array[] = [];
  for (const [i, { hash }] of chunks.entries()) {
    const bitmap = book.bitmap(hash) ?? (await downloadHashed(access, record.url, bitmapPath(hash), hash, CHUNK_BYTES));
    await orStop(context, key, signed, () => assertBitmap(bitmap, i, head.leaves));
    bitmaps.push(bitmap);
  }
  const view = book.createView(signed, chunks, bitmaps);
  const same = (chunk: number) =>
    before?.chunks[chunk]?.root === chunks[chunk]?.root && before?.chunks[chunk]?.hash === chunks[chunk]?.hash;
  const checked = await checkedChunks(context, key, view, record.checked.filter(same));
  const removed = record.removed + (before === undefined ? 0 : view.removedSince(before));
  await assertRemoval(context, key, removed, before?.members ?? 0);
  const next: SetRecord = { ...book.set(key)!.record, checked, removed, asked: null };
  await book.putSet(next, { signed, manifest, view, claims: dated(book, key, head, replacedAt) });
}

/** The claims whose root ceases to be the newest with a head, or becomes it again: a root stays good for an hour. */
function dated(book: Book, key: SetKey, head: OriginHead, replacedAt = head.blockTime): ClaimRecord[] {
  const isNewest = ({ maskRoot }: ClaimRecord) => maskRoot === String(head.maskRoot);
  return book
    .claimsOf(key)
    .filter((claim) => isNewest(claim) !== (claim.until === null))
    .map((claim): ClaimRecord => ({ ...claim, until: isNewest(claim) ? null : replacedAt }));
}

/** @throws OriginError ORIGIN_REMOVAL_LARGE */
async function assertRemoval({ book, removals }: SyncContext, key: SetKey, removed: number, members: number) {
  const { record } = book.set(key)!;
  const limit = Math.min(removals.leaves, Math.max(1, Math.floor(members * removals.share)));
  const unasked = removed - record.consented;
  if (unasked <= limit) return;
  if (record.asked !== removed) await book.putSet({ ...record, asked: removed });
  throw new OriginError(
    "ORIGIN_REMOVAL_LARGE",
    `the curator removed ${unasked} notes from the set ${record.name}, and the wallet takes at most ${limit} without its owner's consent`,
    { removed: unasked, limit },
  );
}

/** Compares the chunks with own notes with the pool's leaves, unless that was done. */
async function checkOwnChunks(context: SyncContext, key: SetKey, view: SetView, done: readonly number[]) {
  const checked = await checkedChunks(context, key, view, done);
  const { record } = context.book.set(key)!;
  if (checked.length > done.length) await context.book.putSet({ ...record, checked });
}

async function checkedChunks(
  context: SyncContext,
  key: SetKey,
  view: SetView,
  done: readonly number[],
): Promise<number[]> {
  const own = context.wallet.notes().filter(({ leafIndex }) => view.has(leafIndex));
  const checked = new Set(done);
  for (const chunk of new Set(own.map(({ leafIndex }) => chunkOf(leafIndex)))) {
    if (checked.has(chunk)) continue;
    if (!view.isTrue(chunk))
      await stop(context, key, falseMask(view.signed, `the root of chunk ${chunk} is not that of its notes`), [
        view.signed,
      ]);
    checked.add(chunk);
  }
  return [...checked].sort((a, b) => a - b);
}

async function orStop<T>(context: SyncContext, key: SetKey, signed: SignedHead, check: () => T): Promise<T> {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof SottoError)) throw error;
    return stop(context, key, falseMask(signed, error.message), [signed]);
  }
}

const falseMask = ({ head }: SignedHead, why: string): Pick<StoppedRecord, "code" | "message"> => ({
  code: "CURATOR_MASK_FALSE",
  message: `the curator ${head.curator} signed head ${head.number} of the set ${head.name}, which is false: ${why}`,
});

const equivocated = ({ heads: [a, b] }: Equivocation): Pick<StoppedRecord, "code" | "message"> => ({
  code: "CURATOR_EQUIVOCATED",
  message: `the curator ${a.head.curator} of the set ${a.head.name} signed two different heads, with the numbers ${a.head.number} and ${b.head.number}`,
});

/** Follows the curator no longer, and keeps what convicts it. @throws OriginError always */
async function stop(
  { book, wallet }: SyncContext,
  key: SetKey,
  why: Pick<StoppedRecord, "code" | "message">,
  heads: readonly SignedHead[],
): Promise<never> {
  const { record } = book.set(key)!;
  await book.putSet({ ...record, stopped: { ...why, at: wallet.now(), heads: heads.map(encodeHead) } });
  throw new OriginError(why.code, why.message);
}
