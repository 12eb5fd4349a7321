import type { ErrorTable } from "@sotto/protocol";

/** The errors of this package, beside those of @sotto/protocol/x402 and of the wallet. */
export const X402_SCHEME_ERRORS = {
  X402_OPTION_INVALID: { means: "An option is missing, of the wrong kind, or contradicts the others." },
  X402_PRICE_INVALID: { means: "A price is not an amount of the pool's token." },
  X402_POOL_FOREIGN: {
    means: "The resource server asks for a payment on another chain, pool or token than the wallet's.",
  },
  X402_ORIGIN_NOT_SECURE: {
    means: "The resource is at an address of plain http, not on this machine, and the chain is not local.",
  },
  X402_SERVICE_NOT_ALLOWED: {
    means: "The resource server's service is not one of those that may see payments. Details: `service`.",
  },
  X402_RECIPIENT_NOT_SIGNED: { means: "The recipient's wallet did not sign the shielded address that is to be paid." },
  X402_LIMIT_EXCEEDED: { means: "The price is above the caller's spending limit. Details: `amount`, `limit`." },
  X402_RESOURCE_ELSEWHERE: {
    means: "The resource is not at the origin of the request. Details: `asked`, `resource`.",
  },
  X402_PAID_TOO_LONG_AGO: {
    means:
      "The payment was made, but its proof is too old to be shown. It is not paid again. Details: `id`, `digest`, " +
      "`nullifier`, `transaction`.",
  },
  X402_FUNDS_TIMED_OUT: { means: "No note became spendable in time. Nothing was paid." },
  X402_FACILITATOR_FAILED: {
    means: "The service does not answer, or its response makes no sense. The payment may have been settled.",
  },
} satisfies ErrorTable;
