import type { ErrorTable } from "@sotto/protocol";

/** The errors of this package. It also throws those of @sotto/protocol/x402 and of the wallet. */
export const X402_SCHEME_ERRORS = {
  X402_OPTION_INVALID: { means: "An option is missing, has the wrong type, or contradicts another option." },
  X402_PRICE_INVALID: { means: "A price is not a valid amount of the pool's token." },
  X402_POOL_FOREIGN: {
    means:
      "The resource server asks for a payment on a different chain, in a different pool or in a different token than the wallet's.",
  },
  X402_ORIGIN_NOT_SECURE: {
    means: "The resource has a plain http URL that is not on this machine, and the chain is not local.",
  },
  X402_SERVICE_NOT_ALLOWED: {
    means: "The resource server's service is not one of those that may see payments. Details: `service`.",
  },
  X402_RECIPIENT_NOT_SIGNED: { means: "The recipient's wallet did not sign the shielded address." },
  X402_LIMIT_EXCEEDED: { means: "The price is above the caller's spending limit. Details: `amount`, `limit`." },
  X402_RESOURCE_ELSEWHERE: {
    means: "The resource is not at the origin of the request. Details: `asked`, `resource`.",
  },
  X402_PAID_TOO_LONG_AGO: {
    means:
      "The payment has settled, but its proof is too old to be presented. Nothing else was paid. Details: `id`, " +
      "`transaction`.",
  },
  X402_FUNDS_TIMED_OUT: { means: "No note became spendable in time. Nothing was paid." },
  X402_FACILITATOR_FAILED: {
    means: "The service does not answer, or its response is not valid. The payment may have been settled.",
  },
} satisfies ErrorTable;
