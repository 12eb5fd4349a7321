import type { Chain, Head } from "@sotto/chain";
import type { Lease, Store } from "../store/index.ts";
import type { FeeMarket } from "./fee-market.ts";
import type { PoolDeployment, RelayerConfig, RelayerLog, RelayerMetrics, RelayerSigner } from "./types.ts";

/** What all parts of the relayer work with. */
export interface RelayerContext {
  store: Store;
  chain: Chain;
  signer: RelayerSigner;
  /** The relayer's address, lower case. */
  address: string;
  pool: PoolDeployment;
  config: RelayerConfig;
  market: FeeMarket;
  metrics: RelayerMetrics;
  log: RelayerLog;
  /** Now, ms. */
  clock: () => number;
}

/** One look at the chain, and what follows from it. */
export interface Round {
  lease: Lease;
  head: Head;
  /** Newest block with the configured confirmations; below the deployment there is none. */
  confirmedNumber: number;
  /** Its time, seconds. */
  confirmedTimestamp: number;
}

/** An operation fails after this many simulations in a row that revert. */
export const MAX_REVERTS = 3;

/** The chain's clock or this machine's, whichever is later: seconds. */
export const latestTime = ({ clock }: RelayerContext, { head }: Round): number =>
  Math.max(head.timestamp, Math.floor(clock() / 1000));

/** Seconds a transaction needs to be mined, with something to spare. */
export const margin = ({ config }: RelayerContext): number => Math.max(30, 2 * config.blockSeconds);
