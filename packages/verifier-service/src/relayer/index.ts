export { paymentCallOf } from "./calldata.ts";
export { createRelayer, type RelayerOptions } from "./create.ts";
export { RelayerError } from "./errors.ts";
export { FeeMarket } from "./fee-market.ts";
export type { Relayer } from "./relayer.ts";
export {
  DEFAULT_RELAYER_CONFIG,
  LOCAL_RELAYER_CONFIG,
  type Outcome,
  type PoolDeployment,
  type RelayerConfig,
  type RelayerLimits,
  type RelayerLog,
  type RelayerMetrics,
  type RelayerProver,
  type RelayerStatus,
} from "./types.ts";
