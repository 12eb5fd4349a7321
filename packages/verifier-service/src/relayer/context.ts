import type { Chain, Head } from "@sotto/chain";
import type { Tracing } from "@sotto/server";
import type { Lease, Store } from "../store/index.ts";
import type { Accounts } from "./accounts.ts";
import type { FeeMarket } from "./fee-market.ts";
import type { Progress } from "./progress.ts";
import type { PoolDeployment, RelayerConfig, RelayerLog, RelayerMetrics } from "./types.ts";

/** Shared by all parts of the relayer. */
export interface RelayerContext {
  store: Store;
  chain: Chain;
  accounts: Accounts;
  pool: PoolDeployment;
  config: RelayerConfig;
  market: FeeMarket;
  metrics: RelayerMetrics;
  log: RelayerLog;
  /** Records what happens to operations whose requests are traced. */
  tracing: Tracing;
  /** Now, ms. */
  clock: () => number;
  /** Measures durations, ms: never goes back, even if the machine's clock is set back. */
  monotonic: () => number;
  /** Notices a round that hangs. */
  progress: Progress;
}

/** The state of the chain at the start of a round. */
export interface Round {
  lease: Lease;
  head: Head;
  /** The newest block with the configured confirmations; negative if the chain is shorter. */
  confirmedNumber: number;
  /** Its time, seconds. */
  confirmedTimestamp: number;
}

/** An operation fails if its simulations revert on this many consecutive blocks. */
export const MAX_REVERTS = 3;

/** The later of the chain's time and this machine's time, seconds. */
export const latestTime = ({ clock }: RelayerContext, { head }: Round): number =>
  Math.max(head.timestamp, Math.floor(clock() / 1000));

/** Seconds that a transaction needs to be mined, with a reserve. */
export const margin = ({ config }: RelayerContext): number => Math.max(30, 2 * config.blockSeconds);
