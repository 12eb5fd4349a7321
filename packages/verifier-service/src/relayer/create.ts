import type { Chain } from "@sotto/chain";
import { parseAddress } from "@sotto/protocol";
import { assertAllowedOnChain } from "@sotto/prover";
import { NO_TRACING, type Tracing } from "@sotto/server";
import type { Store } from "../store/index.ts";
import { Account } from "./account.ts";
import { Accounts } from "./accounts.ts";
import { Appender } from "./appender.ts";
import type { RelayerContext } from "./context.ts";
import { Dispatcher } from "./dispatcher.ts";
import { RelayerError } from "./errors.ts";
import { FeeMarket } from "./fee-market.ts";
import { Follower } from "./follower.ts";
import { assertConfig } from "./options.ts";
import { OutcomeResolver } from "./outcome-resolver.ts";
import { Progress } from "./progress.ts";
import { type Relayer, RelayerLoop } from "./relayer.ts";
import { Sender } from "./sender.ts";
import { Tracker } from "./tracker.ts";
import {
  MAX_ACCOUNTS,
  type PoolDeployment,
  type RelayerAccount,
  type RelayerConfig,
  type RelayerProver,
} from "./types.ts";

/** The dependencies of a relayer. */
export interface RelayerOptions extends Pick<RelayerContext, "metrics" | "log"> {
  /** Holds the outbox. Replicas share it. */
  store: Store;
  /** Reads the chain and broadcasts transactions. */
  chain: Chain;
  /** The accounts that send the transactions, in the order in which they are preferred: 1 to MAX_ACCOUNTS. */
  accounts: readonly RelayerAccount[];
  /** Pool, token and deployment block that the relayer serves. */
  pool: PoolDeployment;
  /** Intervals in ms, and limits of gas, fees and batches. */
  config: RelayerConfig;
  /** Proves appends; needed unless `config.append` is false. */
  prover?: RelayerProver | undefined;
  /** Default: nothing is traced. */
  tracing?: Tracing | undefined;
  /** By default created from the configuration. */
  market?: FeeMarket | undefined;
  /** Current time, ms, which then also measures durations. By default `Date.now`, and durations by a monotonic clock. */
  clock?: (() => number) | undefined;
}

/**
 * Creates a relayer. It sends nothing before `start`.
 * @throws RelayerError INVALID_RELAYER_OPTION; SottoError DEVELOPMENT_KEYS_REFUSED, INVALID_ADDRESS
 */
export function createRelayer(options: RelayerOptions): Relayer {
  const { chain, prover, metrics, log, clock = Date.now, tracing = NO_TRACING } = options;
  // Its own, because its limits may change.
  const config = { ...options.config };
  assertConfig(config);
  if (config.append && prover === undefined)
    throw new RelayerError("INVALID_RELAYER_OPTION", "a relayer that appends notes needs a prover");
  if (prover) assertAllowedOnChain(prover.artifacts, options.pool.chainId);
  const { chainId, deploymentBlock } = options.pool;
  const places = { pool: parseAddress(options.pool.pool, "pool"), token: parseAddress(options.pool.token, "token") };
  const pool: PoolDeployment = { chainId, deploymentBlock, ...places };
  const { market = new FeeMarket({ ...config, chain, clock }) } = options;
  const monotonic = options.clock ?? (() => performance.now());
  // Not by `clock`: a round must not seem to hang because that clock jumps.
  const progress = new Progress(() => performance.now());
  const store = progress.watch(options.store);
  const accounts = new Accounts({
    accounts: accountsOf(options.accounts).map((account) => new Account({ ...account, metrics, log, monotonic })),
    chain,
    config,
    clock,
  });
  const own = { accounts, pool, config, market };
  const context: RelayerContext = { store, chain, ...own, metrics, log, tracing, clock, monotonic, progress };
  const sender = new Sender(context);
  const appender = config.append && prover ? new Appender(context, sender, prover) : undefined;
  const parts = {
    follower: new Follower({ store, chain, pool, config }),
    resolver: new OutcomeResolver(context),
    tracker: new Tracker(context, sender, (succeeded) => appender?.mined(succeeded)),
    dispatcher: new Dispatcher(context, sender),
    appender,
  };
  return new RelayerLoop(context, parts);
}

/** @throws RelayerError INVALID_RELAYER_OPTION; SottoError INVALID_ADDRESS */
function accountsOf(accounts: readonly RelayerAccount[]) {
  const parsed = accounts.map(({ signer, isDraining = false }) => ({
    address: parseAddress(signer.address.toLowerCase(), "signer") as string,
    signer,
    isDraining,
  }));
  const different = new Set(parsed.map(({ address }) => address)).size;
  if (different === 0 || different < parsed.length || different > MAX_ACCOUNTS)
    throw new RelayerError(
      "INVALID_RELAYER_OPTION",
      `a relayer needs 1 to ${MAX_ACCOUNTS} different accounts, got ${parsed.length}, ${different} of them different`,
    );
  if (parsed.every((account) => account.isDraining))
    throw new RelayerError("INVALID_RELAYER_OPTION", "a relayer needs an account that is not draining");
  return parsed;
}
