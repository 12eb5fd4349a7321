import { LOCAL_CHAIN_IDS } from "@sotto/protocol";
import type { Environment } from "./read.ts";

/**
 * Whether settings and keys for development are allowed: on a local chain, unless NODE_ENV is production. A chain of real
 * value may have the id of a local one.
 * @param chainId EIP-155 chain id
 */
export const allowsDevelopment = (environment: Environment, chainId: number | string | undefined): boolean =>
  environment["NODE_ENV"] !== "production" && LOCAL_CHAIN_IDS.some((id) => String(id) === String(chainId));
