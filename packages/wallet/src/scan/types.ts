import type { ChainSource } from "@sotto/chain";
import type { Deployment } from "@sotto/protocol";
import type { Store } from "../store/store.ts";
import type { Ledger } from "./ledger.ts";
import type { ScanKeys } from "./scan-keys.ts";

export interface SyncOptions {
  chain: ChainSource;
  deployment: Deployment;
  /** Block of the pool's deployment, where scanning starts. */
  deploymentBlock: number;
  store: Store;
  /** Blocks required on top of an event's block before the event counts, 0 or more. */
  finality: number;
  /** Keys of the notes to find. Default: none, so that only the queue and the tree are followed. */
  keys?: ScanKeys;
  /** Other work, a short part of it each call, while other threads decrypt a page; false: it is done. */
  meanwhile?: ((ledger: Ledger) => boolean) | undefined;
  /** Maximum blocks per request. Default: 10,000; fewer if the node refuses. */
  rangeSize?: number | undefined;
}

/** Progress of a scan. */
export interface ScanProgress {
  /** Last scanned block. */
  block: number;
  /** Newest block when the scan began. */
  height: number;
  /** Number of leaves so far. */
  leaves: number;
}

/** The result of a scan. */
export interface ScanResult {
  /** Number of blocks scanned. */
  blocks: number;
  /** Number of notes that this scan found. */
  notes: number;
  /** Number of notes that this scan found spent. */
  spends: number;
  /** Number of blocks rolled back because of a reorganization. */
  rolledBack: number;
}

/** Progress of a search. */
export interface SearchProgress {
  /** Last searched block. */
  block: number;
  /** Last block to search. */
  to: number;
}
