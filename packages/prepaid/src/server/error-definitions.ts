import type { ErrorTable } from "@sotto/protocol";

/**
 * The errors of a server with prepaid tokens. Those with an HTTP status are its answers at the paths of prepaid tokens; the
 * others prevent it from opening, or are reported to the operator.
 */
export const PREPAID_SERVER_ERRORS = {
  PREPAID_SCHEDULE_NOT_SIGNED: {
    means: "The recipient's wallet did not sign a schedule of prepaid keys.",
    cause: "Another account signed, the schedule was changed after signing, or it is for another recipient.",
  },
  PREPAID_STORE_RESTORED: {
    means:
      "The store of spent prepaid tokens is behind its guard file, so it may have forgotten spent tokens. Its keys are " +
      "closed; the next epoch's keys work again. Reported to the operator.",
    cause: "The store was restored from a backup, lost or replaced, or the guard file belongs to another store.",
  },
  PREPAID_REQUEST_INVALID: {
    means: "The query or the body of a purchase of prepaid tokens, or of its recovery, is malformed.",
    cause: "The client has another version, or a proxy changed or shortened the request.",
    http: 400,
  },
  PREPAID_PAYMENT_REFUSED: {
    means: "The payment shown to recover a pack of prepaid tokens is not a settled payment for this pack.",
    cause: "The payment was made for another pack, outside the key's epoch, or was never settled.",
    http: 403,
    remedy: "Show the payment that bought this pack.",
  },
  PREPAID_KEY_UNKNOWN: {
    means: "This server does not sell prepaid tokens of this key.",
    cause: "The key belongs to another merchant, or this server only accepts tokens.",
    http: 404,
    remedy: "Read the keys again.",
  },
  PREPAID_PACK_UNKNOWN: {
    means: "This server has not signed this pack of prepaid tokens.",
    cause: "A wallet looks for packs that it bought before it was restored, and this one does not exist.",
    http: 404,
    remedy: "Buy the pack, or show the payment that bought it.",
  },
  PREPAID_NOT_SETTLED: {
    means: "The payment for a pack of prepaid tokens is not settled yet. Try again.",
    cause: "The payment has too few confirmations, or the server's node is behind.",
    http: 409,
    remedy: "Wait for `retry-after`, then send the same request.",
  },
  PREPAID_KEY_ENDED: {
    means: "The prepaid key no longer signs, or was closed.",
    cause: "Its epoch has ended, or the merchant's store was restored from a backup.",
    http: 410,
    remedy: "Use the key of this epoch. Recover a pack that was paid for.",
  },
  PREPAID_UNAVAILABLE: {
    means: "Prepaid tokens cannot be signed at the moment. Try again; a payment is not lost.",
    cause: "Too many packs are being signed, or the server's store, service or chain does not answer.",
    http: 503,
  },
} satisfies ErrorTable;
