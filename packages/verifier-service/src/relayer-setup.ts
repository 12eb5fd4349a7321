import type { Chain } from "@sotto/chain";
import type { Tracing } from "@sotto/server";
import type { Config } from "./config/config.ts";
import {
  createRelayer,
  DEFAULT_RELAYER_CONFIG,
  type FeeMarket,
  LOCAL_RELAYER_CONFIG,
  type Relayer,
  type RelayerAccount,
  type RelayerLimits,
  type RelayerLog,
  type RelayerMetrics,
  type RelayerProver,
} from "./relayer/index.ts";
import type { Store } from "./store/index.ts";

export interface RelayerParts {
  readonly config: Config;
  readonly store: Store;
  readonly chain: Chain;
  readonly accounts: readonly RelayerAccount[];
  readonly token: string;
  readonly prover: RelayerProver;
  readonly market: FeeMarket;
  readonly metrics: RelayerMetrics;
  readonly log: RelayerLog;
  readonly tracing: Tracing;
  /** As for `createRelayer`. */
  readonly clock: (() => number) | undefined;
}

/** A round hangs if it has written nothing for as long as this many requests without a response take. */
const TIMEOUTS = 10;

/** Lower case. */
export interface RelayerAddresses {
  /** The account that responses name: the first that is not draining. */
  readonly address: string;
  /** All accounts, in the order of the settings. */
  readonly addresses: readonly string[];
}

/** The limits that may change while the relayer runs. */
export const relayerLimits = (
  config: Pick<
    Config,
    "maxFeePerGas" | "maxPriorityFeePerGas" | "gasBudget" | "longestValidity" | "rpcTimeoutMs" | "signerTimeoutMs"
  >,
): RelayerLimits => ({
  maxFeePerGas: config.maxFeePerGas,
  maxPriorityFeePerGas: config.maxPriorityFeePerGas,
  gasBudgetPerDay: config.gasBudget,
  // An hour more, because the resolver checks after the deadline is confirmed.
  maxAuthorizationAge: config.longestValidity + 3_600,
  // A round may ask several nodes and signers that do not respond before it writes something.
  stalledAfter: Math.max(
    DEFAULT_RELAYER_CONFIG.stalledAfter,
    TIMEOUTS * Math.max(config.rpcTimeoutMs, config.signerTimeoutMs),
  ),
});

/** Creates the relayer from the settings. It is not started yet. */
export function setUpRelayer({ config, token, accounts, ...parts }: RelayerParts): Relayer & RelayerAddresses {
  const { chainId, pool, deploymentBlock, local } = config;
  const defaults = local ? LOCAL_RELAYER_CONFIG : DEFAULT_RELAYER_CONFIG;
  const relayer = createRelayer({
    ...parts,
    accounts,
    pool: { chainId: BigInt(chainId), pool, token, deploymentBlock },
    config: {
      ...defaults,
      confirmations: config.confirmations,
      blockSeconds: config.blockTimeMs / 1000,
      pollInterval: config.pollMs,
      appendAfter: config.appendAfterMs,
      ...relayerLimits(config),
    },
  });
  const active = accounts.find(({ isDraining }) => isDraining !== true);
  const addresses = accounts.map(({ signer }) => signer.address.toLowerCase());
  return Object.assign(relayer, { address: active!.signer.address.toLowerCase(), addresses });
}
