import { assertObject } from "./validate.ts";

/**
 * Chain ids of local development chains, whose tokens are worth nothing: 31337 for Hardhat and Anvil, 1337 for Ganache
 * and Geth. Only these chains allow development shortcuts, such as keys from public seeds or confirmation codes on the
 * screen.
 */
export const LOCAL_CHAIN_IDS: readonly bigint[] = [31337n, 1337n];

/**
 * Whether settings, accounts and keys for development are allowed: on a local chain, unless NODE_ENV is production. A chain of
 * real value may have the id of a local one.
 * @param environment the environment of the process
 * @param chainId EIP-155 chain id
 * @throws SottoError INVALID_ARGUMENT
 */
export function allowsDevelopment(
  environment: Readonly<Record<string, string | undefined>>,
  chainId: bigint | number | string | undefined,
): boolean {
  assertObject(environment, "environment");
  return environment["NODE_ENV"] !== "production" && LOCAL_CHAIN_IDS.some((id) => String(id) === String(chainId));
}

/**
 * Chain id for rehearsals of production: `sotto` in ASCII, which no chain of real value has. It is not a local chain, so that
 * everything is refused there as on a real one, except the keys of a rehearsed ceremony.
 */
export const REHEARSAL_CHAIN_ID = 495791141999n;

/** Maximum number of blocks on top of an event that a wallet can be configured to wait for. */
export const MAX_FINALITY = 1_000;

/**
 * Default number of blocks on top of an event before a wallet counts it, if neither the deployment nor the user sets
 * one: 0 on a local chain, which mines a block for each transaction and never reorganizes, otherwise 2.
 */
export const defaultFinality = (chainId: bigint): number => (LOCAL_CHAIN_IDS.includes(chainId) ? 0 : 2);
