// The pool's public history, as the pages see it: everything here is on chain, and nothing is specific to a wallet. The
// feed's worker reads all of it, so no request shows the node what this browser is interested in.
import type { PoolEvent } from "@sotto/chain";
import type { HostConfig } from "../config.ts";
import type { Failure } from "../errors.ts";

/** An event that spends notes. A payment hides among at most `notesBefore - spentBefore` unspent notes. */
export interface Crowd {
  /** Notes in the tree before the event. */
  readonly notesBefore: number;
  /** Notes spent before the event. */
  readonly spentBefore: number;
}

export interface NoteRow {
  readonly leafIndex: number;
  readonly commitment: bigint;
  readonly origin: "deposit" | "payment" | "change" | "withdrawal";
  /** Only a deposit's amount is public. Base units. */
  readonly amount: bigint | undefined;
  /** False while the note is in the queue. */
  readonly inTree: boolean;
  readonly transactionHash: string;
  readonly blockNumber: number;
  /** Seconds. */
  readonly timestamp: number;
}

/** An event with its position among all events of the pool, from 0. */
export interface FeedEvent {
  readonly index: number;
  readonly event: PoolEvent;
  /** For payments and withdrawals. */
  readonly crowd: Crowd | undefined;
}

/** A transaction with events of the pool. */
export interface FeedTransaction {
  readonly hash: string;
  readonly blockNumber: number;
  /** Seconds. */
  readonly timestamp: number;
  readonly events: readonly FeedEvent[];
}

/** Pending leaves up to which an append may go. */
export interface PendingCheckpoint {
  /** The first leaf's index. */
  readonly start: number;
  readonly leaves: number;
  /** Time at which its leaves were queued, seconds. */
  readonly timestamp: number;
}

export interface AppendRow {
  readonly start: number;
  readonly count: number;
  readonly root: bigint;
  readonly transactionHash: string;
  readonly blockNumber: number;
  /** Seconds. */
  readonly timestamp: number;
}

/** The pool's activity in one hour. */
export interface HourCounts {
  /** When it begins, seconds. */
  readonly start: number;
  readonly deposits: number;
  readonly payments: number;
  readonly withdrawals: number;
  readonly appends: number;
  readonly notes: number;
  readonly nullifiers: number;
}

/** The gas of a transaction that settles payments. */
export interface GasPoint {
  readonly transactionHash: string;
  readonly blockNumber: number;
  /** Seconds. */
  readonly timestamp: number;
  readonly payments: number;
  readonly gasUsed: bigint;
  /** Wei per unit of gas. */
  readonly gasPrice: bigint;
}

/** Totals over everything that was read. */
export interface PoolSummary {
  /** Changes whenever the result of any of the feed's methods may have changed. */
  readonly revision: number;
  /** Changes only when a reorganization or a new chain removed known events: then indexes refer to other events. */
  readonly history: number;
  /** The last block that was read. */
  readonly block: { readonly number: number; readonly timestamp: number };
  /** Number of notes ever queued, and how many of them are in the tree. */
  readonly notes: number;
  readonly inTree: number;
  /** Nullifiers: notes that were spent. */
  readonly spent: number;
  readonly events: number;
  readonly transactions: number;
  readonly deposits: number;
  readonly payments: number;
  readonly withdrawals: number;
  readonly appends: number;
  readonly lastAppend: AppendRow | undefined;
  /** Oldest first. */
  readonly checkpoints: readonly PendingCheckpoint[];
}

/** When a reorganization was noticed (ms), and how many blocks were read again; undefined if all were. */
export interface Reorganization {
  readonly at: number;
  readonly blocks: number | undefined;
}

export interface FeedState {
  /** `reading` until everything up to the newest block has been read once; then `live`. */
  readonly phase: "starting" | "reading" | "live";
  readonly summary: PoolSummary | undefined;
  /** While it reads: the newest block. */
  readonly height: number | undefined;
  /** Why the chain could not be read the last time. The feed keeps trying, and the summary stays. */
  readonly problem: Failure | undefined;
  /** The last reorganization. */
  readonly reorganized: Reorganization | undefined;
  /** When the feed noticed that the chain was restarted, and read everything again; ms. */
  readonly restarted: number | undefined;
  /** Why this browser does not cache what was read; after a reload, everything is read again. */
  readonly uncached: Failure | undefined;
  /** Whether another tab writes the cache. This tab started from that cache, and reads new blocks itself. */
  readonly shared: boolean;
}

export const STARTING: FeedState = {
  phase: "starting",
  summary: undefined,
  height: undefined,
  problem: undefined,
  reorganized: undefined,
  restarted: undefined,
  uncached: undefined,
  shared: false,
};

/** Where a search text was found. */
export interface SearchHit {
  readonly kind: "transaction" | "note" | "nullifier" | "digest" | "root" | "owner tag" | "account";
  /** The whole value, hex; for a leaf index its commitment. */
  readonly value: string;
  readonly leafIndex: number | undefined;
  readonly transactionHash: string;
  readonly blockNumber: number;
  /** Seconds. */
  readonly timestamp: number;
}

export interface SearchResult {
  /** Newest first. */
  readonly hits: readonly SearchHit[];
  /** Whether there are more hits than requested. */
  readonly more: boolean;
}

/** A contract of the manifest, and the code that the node returns for it. */
export interface ContractCheck {
  readonly name: string;
  readonly address: string;
  readonly expected: string;
  /** keccak256 of the code on chain; undefined if there is none. */
  readonly found: string | undefined;
}

/** The pool's constants on chain, next to the manifest's. */
export interface ConstantCheck {
  readonly name: string;
  readonly expected: string;
  readonly found: string;
}

/** The worker's interface. Each method rejects with a `Failure`. */
export interface PoolFeed {
  /** Calls `listener` with the current state, and again whenever it changes. */
  subscribe(listener: (state: FeedState) => void): Promise<void>;
  /** Begins to follow the pool. Further calls change nothing. */
  start(config: HostConfig): Promise<void>;
  /** Reads the chain now. Resolves when that read has ended; a failure is in the state. */
  refresh(): Promise<void>;
  /** Notes in the order of the tree: at most `count` from leaf `from` on. */
  notes(from: number, count: number): Promise<readonly NoteRow[]>;
  /** The transactions after the newest `skip` ones, newest first. */
  transactions(skip: number, count: number): Promise<readonly FeedTransaction[]>;
  transaction(hash: string): Promise<FeedTransaction | undefined>;
  /** The newest appends, newest first. */
  appends(count: number): Promise<readonly AppendRow[]>;
  /** Finds a leaf index, or values that begin with a hexadecimal text: at most `limit` hits. */
  search(text: string, limit: number): Promise<SearchResult>;
  /** The last `count` hours up to the last block, oldest first, empty ones included. */
  hours(count: number): Promise<readonly HourCounts[]>;
  /**
   * Gas of the last `count` transactions that settle payments, oldest first. Reads the receipts that are not cached.
   */
  gas(count: number): Promise<readonly GasPoint[]>;
  /** Compares the code and the constants on chain with the manifest. Works before `start`. */
  checkContracts(
    config: HostConfig,
  ): Promise<{ contracts: readonly ContractCheck[]; constants: readonly ConstantCheck[] }>;
}
