/** The pool for which the keys in tests and vectors are derived. */
export const DEPLOYMENT = { chainId: 31337n, pool: `0x${"5a".repeat(20)}` };
