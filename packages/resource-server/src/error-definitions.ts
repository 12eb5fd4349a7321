import { type ErrorTable, SHARED_ERRORS } from "@sotto/protocol";

/** The errors of this package: each prevents a paywall from opening. A refused request is not an error. */
export const PAYWALL_ERRORS = {
  INVALID_OPTION: SHARED_ERRORS.INVALID_OPTION,
  NODE_TOO_OLD: SHARED_ERRORS.NODE_TOO_OLD,
  RECIPIENT_NOT_SIGNED: SHARED_ERRORS.RECIPIENT_NOT_SIGNED,
  CHAIN_UNAVAILABLE: SHARED_ERRORS.CHAIN_UNAVAILABLE,
  WRONG_CHAIN: SHARED_ERRORS.WRONG_CHAIN,
  POOL_MISMATCH: SHARED_ERRORS.POOL_MISMATCH,
  SET_MISMATCH: SHARED_ERRORS.SET_MISMATCH,
  SERVICE_UNAVAILABLE: {
    means: "The service does not answer, or its response is not usable.",
    cause: "The URL is wrong, the service is down, or a proxy answers in its place.",
  },
  KEY_NOT_PINNED: {
    means: "The service's verification key is not the pinned one.",
    cause: "The service changed its key, the URL leads to another service, or the pinned key has a typing error.",
  },
} satisfies ErrorTable;
