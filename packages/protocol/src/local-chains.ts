/**
 * Chain ids of local development chains, whose tokens are worth nothing: 31337 for Hardhat and Anvil, 1337 for Ganache
 * and Geth. Only these chains allow development shortcuts, such as keys from public seeds or confirmation codes on the
 * screen.
 */
export const LOCAL_CHAIN_IDS: readonly bigint[] = [31337n, 1337n];

/** Maximum number of blocks on top of an event that a wallet can be configured to wait for. */
export const MAX_FINALITY = 1_000;

/**
 * Default number of blocks on top of an event before a wallet counts it, if neither the deployment nor the user sets
 * one: 0 on a local chain, which mines a block for each transaction and never reorganizes, otherwise 2.
 */
export const defaultFinality = (chainId: bigint): number => (LOCAL_CHAIN_IDS.includes(chainId) ? 0 : 2);
