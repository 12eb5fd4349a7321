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
  METERED_TERMS_NOT_SIGNED: {
    means: "The recipient's wallet did not sign the terms of metered routes.",
    cause: "Another account signed, the terms were changed after signing, or they are for another recipient.",
  },
  METER_ENDED: {
    means: "A handler counted after its request had ended, so nothing was counted.",
    cause: "The client is gone, the response was complete, or the request ran longer than `maxSeconds`.",
    remedy: "Stop the work when `payment.meter.add` returns false or throws.",
  },
  METERED_REQUEST_INVALID: {
    means: "The body of a claim of change or of a swap is malformed, or its batch does not fit.",
    cause: "The client has another version, or a proxy changed or shortened the request.",
    http: 400,
    remedy: "Send the batch of the canonical change, or one of the swaps.",
  },
  METERED_CLAIM_INVALID: {
    means:
      "A claim of change is not signed with the key of its token, or a token of a swap is not signed by this server.",
    cause: "Somebody else saw the token and claims its change, or the claim was changed on its way.",
    http: 403,
    remedy: "Sign the claim with the token's own key, for this origin and batch.",
  },
  METERED_UNKNOWN: {
    means: "No request of a metered route was paid with this token at this server, or the server signs no change.",
    cause:
      "The request never arrived, it was refused before its token was spent, or the claim reached a server without keys.",
    http: 404,
    remedy: "Send claims to a server with keys. If that server does not know the token, show it for the same request.",
  },
  METERED_RUNNING: {
    means: "The request that a token paid for still runs, so its charge is not final.",
    cause: "The change was claimed before the response was complete, or the server was stopped during the request.",
    http: 409,
    remedy: "Wait for `retry-after`, then send the same claim.",
  },
  METERED_BATCH_OTHER: {
    means: "The change of a token was signed for another batch of blinded messages. It is signed once.",
    cause: "The wallet was restored from a backup that is older than its claim.",
    http: 409,
    remedy: "Send the batch of the first claim.",
  },
  METERED_SPENT: {
    means: "A token of a swap was spent before. The swap spent nothing.",
    cause: "Two copies of one wallet spend the same tokens, or the wallet was restored from a backup.",
    http: 409,
    remedy: "Swap other tokens.",
  },
  METERED_ENDED: {
    means: "The change of a token, or a swap, is no longer signed.",
    cause: "The tokens of that month are no longer accepted, or the merchant's store was restored from a backup.",
    http: 410,
    remedy: "Buy tokens of the current month. The change is lost.",
  },
} satisfies ErrorTable;
