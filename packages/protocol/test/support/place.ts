/** The pool whose deposits the vectors' keys are for. */
export const PLACE = { chainId: 31337n, pool: `0x${"5a".repeat(20)}` };
