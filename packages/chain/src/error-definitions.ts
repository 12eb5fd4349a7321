import { type ErrorTable, SHARED_ERRORS } from "@sotto/protocol";

/** The errors of this package. */
export const CHAIN_ERRORS = {
  INVALID_OPTION: SHARED_ERRORS.INVALID_OPTION,
  NODE_UNREACHABLE: {
    means: "No node responds.",
    exit: "network",
    remedy: { local: "start a local chain with `npm run chain`" },
  },
  NODE_ERROR: {
    means: "A node responded with an error, or with a response that does not match the request.",
    exit: "network",
  },
  NODE_INCONSISTENT: {
    means: "A node's responses contradict each other or what was read before.",
    exit: "network",
  },
  WRONG_CHAIN: SHARED_ERRORS.WRONG_CHAIN,
  CALL_REVERTED: {
    means: "The call would revert. Details: `data`, the selector of the contract's error.",
    exit: "refused",
  },
  SENDER_UNFUNDED: { means: "The sending account cannot pay for the gas of the call.", exit: "funds" },
  RANGE_TOO_LARGE: { means: "No node returns the logs of so many blocks at once. Ask for fewer.", exit: "network" },
  POOL_NOT_DEPLOYED: {
    means: "There is no contract at the pool's address.",
    exit: "usage",
    remedy: { local: "a local chain loses its state when it stops: run `npm run deploy:local`, then use a new --home" },
  },
  POOL_MISMATCH: SHARED_ERRORS.POOL_MISMATCH,
  PROOF_MISMATCH: SHARED_ERRORS.PROOF_MISMATCH,
  TRANSACTION_FAILED: { means: "A transaction reverted, or a node refused it.", exit: "refused" },
} satisfies ErrorTable;
