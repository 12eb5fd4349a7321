/**
 * Hardhat's and Anvil's chain id, and Ganache's and Geth's dev chain: chains of one machine, whose money is play money.
 * Keys from public seeds, codes on a screen and other conveniences of development are for these alone.
 */
export const LOCAL_CHAIN_IDS: readonly bigint[] = [31337n, 1337n];
