// All events of a pool in memory, and the queries that the pages need. Contains no I/O.
import { type PoolEvent, type QueueCounts, queuedLeaves } from "@sotto/chain";
import { CHECKPOINT_LEAVES, trimPasted } from "@sotto/protocol";
import { toBytes32 } from "../lib/bytes32.ts";
import type {
  AppendRow,
  Crowd,
  FeedEvent,
  FeedTransaction,
  HourCounts,
  NoteRow,
  PendingCheckpoint,
  PoolSummary,
  SearchHit,
  SearchResult,
} from "./pool-feed-api.ts";

export const HOUR = 3600;
/** Maximum length of a searched text: a word in hexadecimal or decimal digits. */
const MAX_SEARCH_CHARACTERS = 80;

type Totals = Pick<PoolSummary, "notes" | "inTree" | "spent" | "deposits" | "payments" | "withdrawals" | "appends">;

const NO_TOTALS: Totals = { notes: 0, inTree: 0, spent: 0, deposits: 0, payments: 0, withdrawals: 0, appends: 0 };
const COUNTED = {
  deposited: "deposits",
  settled: "payments",
  withdrawn: "withdrawals",
  appended: "appends",
} as const satisfies Record<PoolEvent["type"], keyof HourCounts>;

const nullifiersOf = (event: PoolEvent): readonly bigint[] => {
  if (event.type === "settled") return [event.nullifier];
  return event.type === "withdrawn" ? event.nullifiers.filter((nullifier) => nullifier !== 0n) : [];
};

export class PoolHistory {
  #events: PoolEvent[] = [];
  /** Per event: the number of notes in the tree, and of notes spent, before it. */
  #inTreeBefore: number[] = [];
  #spentBefore: number[] = [];
  /** Per leaf: the index of its event. */
  #leaves: number[] = [];
  /** Index of each transaction's first event: in order, and by transaction hash. */
  #transactions: number[] = [];
  #byHash = new Map<string, number>();
  #appends: number[] = [];
  #payments: number[] = [];
  #hours = new Map<number, HourCounts>();
  #totals = NO_TOTALS;

  /** Adds events that continue the known ones, in the order of the chain. */
  add(events: readonly PoolEvent[]): void {
    for (const event of events) this.#add(event);
  }

  #add(event: PoolEvent): void {
    const index = this.#events.length;
    const leaves = queuedLeaves(event).length;
    const nullifiers = nullifiersOf(event).length;
    const totals = this.#totals;
    this.#events.push(event);
    this.#inTreeBefore.push(totals.inTree);
    this.#spentBefore.push(totals.spent);
    for (let i = 0; i < leaves; i += 1) this.#leaves.push(index);
    if (this.#events[index - 1]?.transactionHash !== event.transactionHash) {
      this.#transactions.push(index);
      this.#byHash.set(event.transactionHash, index);
    }
    if (event.type === "appended") this.#appends.push(index);
    if (event.type === "settled") this.#payments.push(index);
    const counted = COUNTED[event.type];
    this.#totals = {
      ...totals,
      notes: totals.notes + leaves,
      inTree: event.type === "appended" ? event.startIndex + event.count : totals.inTree,
      spent: totals.spent + nullifiers,
      [counted]: totals[counted] + 1,
    };
    const start = event.timestamp - (event.timestamp % HOUR);
    const hour = this.#hours.get(start) ?? emptyHour(start);
    this.#hours.set(start, {
      ...hour,
      notes: hour.notes + leaves,
      nullifiers: hour.nullifiers + nullifiers,
      [counted]: hour[counted] + 1,
    });
  }

  /** Removes the events after block `to`. @returns whether there were any */
  rollBack(to: number): boolean {
    const kept = this.#events.filter(({ blockNumber }) => blockNumber <= to);
    if (kept.length === this.#events.length) return false;
    this.#events = [];
    this.#inTreeBefore = [];
    this.#spentBefore = [];
    this.#leaves = [];
    this.#transactions = [];
    this.#byHash = new Map();
    this.#appends = [];
    this.#payments = [];
    this.#hours = new Map();
    this.#totals = NO_TOTALS;
    this.add(kept);
    return true;
  }

  counts(): QueueCounts {
    return { leaves: this.#totals.notes, appended: this.#totals.inTree };
  }

  summary(): Omit<PoolSummary, "revision" | "history" | "block"> {
    return {
      ...this.#totals,
      events: this.#events.length,
      transactions: this.#transactions.length,
      lastAppend: this.appends(1)[0],
      checkpoints: this.#checkpoints(),
    };
  }

  /** The contract begins a checkpoint when the time of the block changes and when the newest one has 32 leaves. */
  #checkpoints(): PendingCheckpoint[] {
    const found: PendingCheckpoint[] = [];
    for (let leaf = this.#totals.inTree; leaf < this.#totals.notes; leaf += 1) {
      const { timestamp } = this.#events[this.#leaves[leaf]!]!;
      const last = found.at(-1);
      if (last?.timestamp === timestamp && last.leaves < CHECKPOINT_LEAVES)
        found[found.length - 1] = { ...last, leaves: last.leaves + 1 };
      else found.push({ start: leaf, leaves: 1, timestamp });
    }
    return found;
  }

  notes(from: number, count: number): NoteRow[] {
    const rows: NoteRow[] = [];
    const end = Math.min(from + count, this.#totals.notes);
    for (let leaf = Math.max(0, from); leaf < end; leaf += 1) rows.push(this.#note(leaf));
    return rows;
  }

  #note(leafIndex: number): NoteRow {
    const event = this.#events[this.#leaves[leafIndex]!]!;
    const { transactionHash, blockNumber, timestamp } = event;
    const first = event.type === "appended" ? leafIndex : event.leafIndex;
    return {
      leafIndex,
      commitment: queuedLeaves(event)[leafIndex - first]!,
      origin: originOf(event, leafIndex - first),
      amount: event.type === "deposited" ? event.amount : undefined,
      inTree: leafIndex < this.#totals.inTree,
      transactionHash,
      blockNumber,
      timestamp,
    };
  }

  transactions(skip: number, count: number): FeedTransaction[] {
    const end = Math.max(0, this.#transactions.length - skip);
    const first = Math.max(0, end - count);
    return this.#transactions
      .slice(first, end)
      .map((index) => this.#transaction(index))
      .reverse();
  }

  transaction(hash: string): FeedTransaction | undefined {
    const index = this.#byHash.get(hash.toLowerCase());
    return index === undefined ? undefined : this.#transaction(index);
  }

  #transaction(first: number): FeedTransaction {
    const { transactionHash: hash, blockNumber, timestamp } = this.#events[first]!;
    const events: FeedEvent[] = [];
    for (let index = first; this.#events[index]?.transactionHash === hash; index += 1) {
      const event = this.#events[index]!;
      events.push({ index, event, crowd: this.#crowd(index, event) });
    }
    return { hash, blockNumber, timestamp, events };
  }

  #crowd(index: number, event: PoolEvent): Crowd | undefined {
    if (nullifiersOf(event).length === 0) return undefined;
    return { notesBefore: this.#inTreeBefore[index]!, spentBefore: this.#spentBefore[index]! };
  }

  appends(count: number): AppendRow[] {
    return this.#appends
      .slice(-count)
      .reverse()
      .map((index) => {
        const event = this.#events[index]!;
        if (event.type !== "appended") throw new Error(`event ${index} is not an append`);
        const { startIndex: start, newRoot: root, transactionHash, blockNumber, timestamp, count: leaves } = event;
        return { start, count: leaves, root, transactionHash, blockNumber, timestamp };
      });
  }

  /** The last transactions that settle payments, oldest first. */
  settlements(count: number): { transactionHash: string; blockNumber: number; timestamp: number; payments: number }[] {
    const found: { transactionHash: string; blockNumber: number; timestamp: number; payments: number }[] = [];
    for (let i = this.#payments.length - 1; i >= 0; i -= 1) {
      const { transactionHash, blockNumber, timestamp } = this.#events[this.#payments[i]!]!;
      const last = found.at(-1);
      if (last?.transactionHash === transactionHash) last.payments += 1;
      else if (found.length === count) break;
      else found.push({ transactionHash, blockNumber, timestamp, payments: 1 });
    }
    return found.reverse();
  }

  hours(count: number, last: number): HourCounts[] {
    const end = last - (last % HOUR);
    return Array.from({ length: count }, (_, i) => {
      const start = end - (count - 1 - i) * HOUR;
      return this.#hours.get(start) ?? emptyHour(start);
    });
  }

  /** @param text a leaf index, or the beginning of a value in hexadecimal, with or without 0x, or a whole value in decimal */
  search(text: string, limit: number): SearchResult {
    const wanted = trimPasted(text).toLowerCase();
    if (wanted === "" || wanted.length > MAX_SEARCH_CHARACTERS) return { hits: [], more: false };
    const hits: SearchHit[] = [];
    const index = /^[0-9]{1,10}$/.test(wanted) ? Number(wanted) : undefined;
    if (index !== undefined && index < this.#totals.notes) {
      const { commitment, transactionHash, blockNumber, timestamp } = this.#note(index);
      hits.push({
        kind: "note",
        value: toBytes32(commitment),
        leafIndex: index,
        transactionHash,
        blockNumber,
        timestamp,
      });
    }
    const prefix = prefixOf(wanted);
    for (let i = this.#events.length - 1; prefix !== undefined && i >= 0 && hits.length <= limit; i -= 1) {
      const event = this.#events[i]!;
      const { transactionHash, blockNumber, timestamp } = event;
      const known = new Set(hits.slice(-8).map(({ kind, transactionHash: hash }) => `${kind} ${hash}`));
      for (const [kind, value, leafIndex] of valuesOf(event)) {
        if (!value.startsWith(prefix)) continue;
        // A transaction with several events counts as one hit.
        if (kind === "transaction" && known.has(`transaction ${transactionHash}`)) continue;
        hits.push({ kind, value, leafIndex, transactionHash, blockNumber, timestamp });
      }
    }
    return { hits: hits.slice(0, limit), more: hits.length > limit };
  }
}

const emptyHour = (start: number): HourCounts => ({
  start,
  deposits: 0,
  payments: 0,
  withdrawals: 0,
  appends: 0,
  notes: 0,
  nullifiers: 0,
});

function originOf(event: PoolEvent, offset: number): NoteRow["origin"] {
  if (event.type === "deposited") return "deposit";
  if (event.type === "settled") return offset === 0 ? "payment" : "change";
  return "withdrawal";
}

/** Minimum length of a searched prefix, in hexadecimal digits. Shorter prefixes match too many values. */
const MIN_PREFIX = 3;
const WORD_DIGITS = 64;

function prefixOf(wanted: string): string | undefined {
  // 64 digits are taken for a word in hexadecimal: only one decimal word in 10^13 is that short.
  if (/^[0-9]{20,78}$/.test(wanted) && wanted.length !== WORD_DIGITS)
    return BigInt(wanted) < 1n << 256n ? toBytes32(BigInt(wanted)) : undefined;
  const digits = wanted.replace(/^0x/, "");
  return /^[0-9a-f]*$/.test(digits) && digits.length >= MIN_PREFIX && digits.length <= WORD_DIGITS
    ? `0x${digits}`
    : undefined;
}

type Value = readonly [kind: SearchHit["kind"], value: string, leafIndex: number | undefined];

function* valuesOf(event: PoolEvent): Generator<Value> {
  yield ["transaction", event.transactionHash, undefined];
  for (const [i, leaf] of queuedLeaves(event).entries())
    yield ["note", toBytes32(leaf), event.type === "appended" ? undefined : event.leafIndex + i];
  for (const nullifier of nullifiersOf(event)) yield ["nullifier", toBytes32(nullifier), undefined];
  switch (event.type) {
    case "settled":
      yield ["digest", event.digest, undefined];
      return;
    case "withdrawn":
      yield ["digest", event.digest, undefined];
      yield ["account", event.recipient, undefined];
      return;
    case "deposited":
      yield ["owner tag", toBytes32(event.ownerTag), event.leafIndex];
      return;
    case "appended":
      yield ["root", toBytes32(event.newRoot), undefined];
  }
}
