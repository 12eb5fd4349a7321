/** The pool that the keys of the tests and vectors are for. */
export const DEPLOYMENT = { chainId: 31337n, pool: `0x${"5a".repeat(20)}` };
