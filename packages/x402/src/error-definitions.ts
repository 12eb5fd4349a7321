import { type ErrorTable, SHARED_ERRORS } from "@sotto/protocol";

/** The errors of this package. It also throws those of @sotto/protocol/x402 and of the wallet. */
export const X402_SCHEME_ERRORS = {
  ADDRESS_MONTH_MISSING: SHARED_ERRORS.ADDRESS_MONTH_MISSING,
  X402_OPTION_INVALID: {
    means: "An option is missing, has the wrong type, or contradicts another option.",
    cause: "An option has a typo, an amount is not a bigint, or the option belongs to another version.",
  },
  X402_PRICE_INVALID: {
    means: "A price is not a valid amount of the pool's token.",
    cause: "The price is 0, has more decimals than the token, or is in another currency or token.",
  },
  X402_POOL_FOREIGN: {
    means:
      "The resource server asks for a payment on a different chain, in a different pool or in a different token than the wallet's.",
    cause: "One side has the manifest of another deployment or network.",
  },
  X402_ORIGIN_NOT_SECURE: {
    means: "The resource has a plain http URL that is not on this machine, and the chain is not local.",
    cause: "The resource server is not behind https, or does not know its public URL.",
  },
  X402_SERVICE_NOT_ALLOWED: {
    means: "The resource server's service is not one of those that may see payments. Details: `service`.",
    cause: "The resource server uses a service that is not in the client's list.",
  },
  X402_RECIPIENT_NOT_SIGNED: {
    means: "The recipient's wallet did not sign the shielded address.",
    cause: "The merchant's settings combine two wallets, or a server on the way changed the address.",
  },
  X402_LIMIT_EXCEEDED: {
    means: "The price is above the caller's spending limit. Details: `amount`, `limit`.",
    cause: "The resource costs more than you allowed.",
  },
  X402_RESOURCE_ELSEWHERE: {
    means: "The resource is not at the origin of the request. Details: `asked`, `resource`.",
    cause: "The resource server is behind a proxy and does not know its public URL, or repeats another server's terms.",
  },
  X402_PAID_TOO_LONG_AGO: {
    means:
      "The payment has settled, but its proof can no longer be presented: it is too old, or the server's address changed at the end " +
      "of the month. Nothing else was paid. Details: `id`, `transaction`.",
    cause: "The program was stopped between the payment and the delivery for longer than a proof is valid.",
  },
  X402_PAYMENT_UNDECIDED: {
    means:
      "An earlier payment for the same resource went to the recipient's address of another month and may still settle. Nothing else " +
      "was paid. Details: `id`, `validUntil`.",
    cause:
      "A response was lost shortly before the recipient changed its address. Repeat the request after `validUntil`.",
  },
  X402_FUNDS_TIMED_OUT: {
    means: "No note became spendable in time. Nothing was paid.",
    cause: "Notes that arrived recently wait for blocks or for the service, or other payments hold them.",
  },
  X402_FACILITATOR_FAILED: {
    means: "The service does not answer, or its response is not valid. The payment may have been settled.",
    cause: "The service is down or overloaded, or the connection ended before its response.",
  },
} satisfies ErrorTable;
