import { type ErrorTable, SHARED_ERRORS } from "@sotto/protocol";

/** The errors of this package. */
export const CHAIN_ERRORS = {
  INVALID_OPTION: SHARED_ERRORS.INVALID_OPTION,
  NODE_UNREACHABLE: {
    means: "No node responds.",
    cause: "The URL is wrong, the node is down, or a firewall or proxy blocks the connection.",
    exit: "network",
    remedy: { local: "start a local chain with `npm run chain`" },
  },
  NODE_ERROR: {
    means: "A node responded with an error, or with a response that does not match the request.",
    cause: "The node limits requests, lacks old state, does not support a method, or the URL is not that of a node.",
    exit: "network",
  },
  NODE_INCONSISTENT: {
    means: "A node's responses contradict each other or what was read before.",
    cause:
      "The chain reorganized, several nodes behind one URL are at different blocks, or a local chain was restarted.",
    exit: "network",
  },
  WRONG_CHAIN: SHARED_ERRORS.WRONG_CHAIN,
  CALL_REVERTED: {
    means: "The call would revert. Details: `data`, the selector of the contract's error.",
    cause:
      "The pool refuses the call in its present state, for example because a note is spent or a deadline has passed.",
    exit: "refused",
  },
  SENDER_UNFUNDED: {
    means: "The sending account cannot pay for the gas of the call.",
    cause: "The account has too little of the chain's own currency.",
    exit: "funds",
  },
  RANGE_TOO_LARGE: {
    means: "No node returns the logs of so many blocks at once. Ask for fewer.",
    cause: "The provider limits `eth_getLogs` to a few blocks or results.",
    exit: "network",
  },
  POOL_NOT_DEPLOYED: {
    means: "There is no contract at the pool's address.",
    cause: "The local chain was restarted, or the address or the chain is wrong.",
    exit: "usage",
    remedy: { local: "a local chain loses its state when it stops: run `npm run deploy:local`, then use a new --home" },
  },
  POOL_MISMATCH: SHARED_ERRORS.POOL_MISMATCH,
  PROOF_MISMATCH: SHARED_ERRORS.PROOF_MISMATCH,
  TRANSACTION_FAILED: {
    means: "A transaction reverted, or a node refused it.",
    cause: "Another transaction changed the state first, or the gas price or nonce was refused.",
    exit: "refused",
  },
} satisfies ErrorTable;
