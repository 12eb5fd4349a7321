/**
 * Hardhat's and Anvil's chain id, and Ganache's and Geth's dev chain: chains of one machine, whose money is play money.
 * Keys from public seeds, codes on a screen and other conveniences of development are for these alone.
 */
export const LOCAL_CHAIN_IDS: readonly bigint[] = [31337n, 1337n];

/** Most blocks on top of an event that a wallet can be told to wait for. */
export const MAX_FINALITY = 1_000;

/**
 * Blocks on top of an event before a wallet counts it, unless the deployment or the user says otherwise: none on a local
 * chain, which mines a block for each transaction and reorganises nothing.
 */
export const defaultFinality = (chainId: bigint): number => (LOCAL_CHAIN_IDS.includes(chainId) ? 0 : 2);
