import { type ErrorTable, SHARED_ERRORS } from "@sotto/protocol";

/**
 * The errors of this package. Each prevents a paywall from opening. A request that is refused for its payment is not an
 * error.
 */
export const PAYWALL_ERRORS = {
  INVALID_OPTION: SHARED_ERRORS.INVALID_OPTION,
  NODE_TOO_OLD: SHARED_ERRORS.NODE_TOO_OLD,
  RECIPIENT_NOT_SIGNED: SHARED_ERRORS.RECIPIENT_NOT_SIGNED,
  ADDRESS_MONTH_MISSING: SHARED_ERRORS.ADDRESS_MONTH_MISSING,
  CHAIN_UNAVAILABLE: SHARED_ERRORS.CHAIN_UNAVAILABLE,
  WRONG_CHAIN: SHARED_ERRORS.WRONG_CHAIN,
  POOL_MISMATCH: SHARED_ERRORS.POOL_MISMATCH,
  SET_MISMATCH: SHARED_ERRORS.SET_MISMATCH,
  PAYWALL_CLOCK_WRONG: {
    means:
      "The server's clock differs from the chain's time, so the paywall asks for no payments: it would refuse them. It keeps comparing.",
    cause: "The machine's clock is not synchronized, or all nodes lag behind the chain.",
    remedy: "Synchronize the server's clock (`timedatectl set-ntp true` on Linux).",
  },
  SERVICE_UNAVAILABLE: {
    means: "The service does not answer, or its response is not usable.",
    cause: "The URL is wrong, the service is down, or a proxy answers in its place.",
  },
  KEY_NOT_PINNED: {
    means: "The service's verification key is not the pinned one.",
    cause: "The service changed its key, the URL leads to another service, or the pinned key has a typo.",
  },
} satisfies ErrorTable;
