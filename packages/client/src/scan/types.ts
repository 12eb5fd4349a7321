import type { ChainSource } from "@sotto/chain";
import type { Deployment } from "@sotto/protocol";
import type { Store } from "../store/store.ts";
import type { ScanKeys } from "./scanner.ts";

export interface SyncOptions {
  chain: ChainSource;
  deployment: Deployment;
  /** Block the pool was deployed in: nothing is looked for before it. */
  deploymentBlock: number;
  store: Store;
  /** Blocks on top of an event's block before it counts, 0 or more. */
  finality: number;
  /** Whose notes are looked for; left out: nobody's, only the queue and the tree are followed. */
  keys?: ScanKeys;
  /** Most blocks asked for at once (10,000 if left out); fewer where the node refuses. */
  rangeSize?: number | undefined;
}

/** How far a scan has come. */
export interface ScanProgress {
  /** Last block read. */
  block: number;
  /** Newest block when the scan began. */
  height: number;
  /** Leaves seen so far. */
  leaves: number;
}

export interface ScanResult {
  /** Blocks read. */
  blocks: number;
  /** Notes found by this scan. */
  notes: number;
  /** Notes seen spent by this scan. */
  spends: number;
  /** Blocks whose reading was taken back because the chain reorganised. */
  rolledBack: number;
}
