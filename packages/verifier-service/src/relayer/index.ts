export { paymentCallOf } from "./calldata.ts";
export { createRelayer, type RelayerOptions } from "./create.ts";
export { RelayerError } from "./errors.ts";
export { FeeMarket } from "./fee-market.ts";
export type { Relayer } from "./relayer.ts";
export {
  type AccountState,
  DEFAULT_RELAYER_CONFIG,
  LOCAL_RELAYER_CONFIG,
  MAX_ACCOUNTS,
  type Outcome,
  type PoolDeployment,
  type RelayerAccount,
  type RelayerConfig,
  type RelayerLimits,
  type RelayerLog,
  type RelayerMetrics,
  type RelayerProver,
  type RelayerStatus,
} from "./types.ts";
