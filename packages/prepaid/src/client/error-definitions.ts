import type { ErrorTable } from "@sotto/protocol";

const DECIDE = "`sotto prepaid list` shows why; `sotto prepaid resume ORIGIN` or `sotto prepaid drop ORIGIN` decides";

/** The errors of buying and spending prepaid tokens. */
export const PREPAID_ERRORS = {
  PREPAID_NOT_OFFERED: {
    means: "The server sells no prepaid tokens of this value now. Nothing was paid. Details: `origin`.",
    cause:
      "The server does not sell prepaid tokens, has no key for the price in this month, or its 402 for the pack names another wallet or price.",
    exit: "refused",
  },
  PREPAID_UNREACHABLE: {
    means:
      "The server or a mirror of keys cannot be reached, does not finish its answer in time, or its answer is too long.",
    cause: "The server or the mirror is down, is slow, or sends endless data.",
    exit: "network",
  },
  PREPAID_SCHEDULE_REFUSED: {
    means:
      "The server's schedule of keys is malformed, not signed by its wallet, or for another chain, pool, origin or " +
      "wallet. Nothing was paid.",
    cause: "The server is set up with the schedule of another origin, chain or wallet, or someone changed its answer.",
    exit: "refused",
  },
  PREPAID_KEY_CONFLICT: {
    means:
      "The server has two keys for one value and epoch, so it could recognize its payers by the key. Prepaid tokens are " +
      "stopped at its origin, and the wallet keeps both signed schedules as evidence. Details: `origin`.",
    cause: "The merchant replaced a key that it had signed before, or gives different payers different keys.",
    exit: "refused",
    remedy: DECIDE,
  },
  PREPAID_MIRROR_FAILED: {
    means:
      "A mirror does not show or keep the server's key or terms, so that they cannot be compared. Nothing was paid. Details: `mirror`.",
    cause: "The mirror is not the expected service, or has reached its limit of schedules or terms.",
    exit: "network",
  },
  PREPAID_LIMIT_EXCEEDED: {
    means: "A pack would exceed the limit of unspent tokens at the host. Details: `price`, `unspent`, `limit`.",
    cause: "The option `prepaid.maxPerHost` is less than the unspent tokens plus one more pack.",
    exit: "refused",
  },
  PREPAID_STOPPED: {
    means:
      "Prepaid tokens are stopped at the origin until the owner decides. Details: `origin`, `reason` (the code that stopped them).",
    cause: "The server refused a token, returned a wrong signature, or has a second key.",
    exit: "refused",
    remedy: DECIDE,
  },
  PREPAID_PACK_PENDING: {
    means:
      "A pack may have been paid for, but its signatures have not arrived yet. The wallet asks again. Details: `origin`, `reason`.",
    cause: "The server signs slowly, restarts, or waits until it sees the payment.",
    exit: "pending",
    remedy: "repeat `sotto prepaid buy`, which does not pay again",
  },
  PREPAID_PACK_REFUSED: {
    means: "The server was paid for a pack and refuses its signatures. Details: `origin`, `reason`, `id`.",
    cause: "The key is no longer valid, or the server does not accept the payment.",
    exit: "refused",
    remedy: DECIDE,
  },
  PREPAID_SIGNATURES_INVALID: {
    means:
      "The server returned a wrong signature, by which it could recognize a token. The whole pack is void, and prepaid " +
      "tokens are stopped at its origin. Details: `origin`.",
    cause: "The server signs with a key other than the published one, its hardware is faulty, or it marks tokens.",
    exit: "refused",
    remedy: DECIDE,
  },
  PREPAID_TOKEN_REFUSED: {
    means:
      "The server refused a prepaid token for good; nothing more was paid for the request. If the token was never sent " +
      "before, prepaid tokens are stopped at its origin. Details: `origin`, `reason`.",
    cause:
      "The token was used, because an earlier answer to the same request was lost, or the server lost data or cheats.",
    exit: "refused",
    remedy: DECIDE,
  },
  PREPAID_TERMS_REFUSED: {
    means:
      "The server's terms of its metered routes are malformed, not signed by its wallet, for another month, or its 402 names a " +
      "rule that is not in them. Nothing was sent with a token. Details: `origin`.",
    cause:
      "The server is set up with the terms of another origin, chain or wallet, or asks for another price than it signed.",
    exit: "refused",
  },
  PREPAID_TERMS_CONFLICT: {
    means:
      "The server's wallet signed two rules for the same request and month, or two receipt keys for one month. Prepaid tokens " +
      "are stopped at its origin, and the wallet keeps both signed terms as evidence. Details: `origin`.",
    cause:
      "The merchant changed a price or receipt key that it had signed, or a mirror shows that other payers get different ones.",
    exit: "refused",
    remedy: DECIDE,
  },
  PREPAID_RECEIPT_INVALID: {
    means:
      "The server's receipt for a metered request is not signed, is about another request, or its charge does not follow from " +
      "the rule. Prepaid tokens are stopped at its origin, and the wallet keeps the receipt as evidence. Details: `origin`.",
    cause: "The merchant charges more than it agreed to, signed two receipts for one token, or its program is faulty.",
    exit: "refused",
    remedy: DECIDE,
  },
  PREPAID_RECEIPT_CONTRADICTED: {
    means:
      "A receipt of a metered request is not signed, or contradicts its rule, the terms, another receipt or your own count.",
    cause: "The merchant charged wrongly, or the terms or counts are those of another request.",
    exit: "invalid",
  },
  PREPAID_AUDIT_FAILED: {
    means: "The store of a server's prepaid tokens does not add up. The message names each contradiction.",
    cause:
      "A schedule was left out of `--schedules`, the store lost or gained rows, or somebody else has the server's private keys.",
    exit: "invalid",
  },
  PREPAID_CHANGE_REFUSED: {
    means:
      "The server refuses the change of a metered request or the tokens of a swap. Prepaid tokens are stopped at its origin. " +
      "Details: `origin`.",
    cause: "The server lost data, or cheats. At most the cap of one request is lost.",
    exit: "refused",
    remedy: DECIDE,
  },
  PREPAID_CHANGE_PENDING: {
    means:
      "The change of a metered request has not arrived yet. The wallet asks again, and loses nothing. Details: `origin`.",
    cause: "The request still runs, or the server does not answer.",
    exit: "pending",
    remedy: "run `sotto prepaid merge` later",
  },
  PREPAID_TOKEN_PENDING: {
    means:
      "The server cannot take the prepaid token now. Repeat the request: the same token is sent again. Details: `reason`.",
    cause: "The server's store is unavailable or it is overloaded.",
    exit: "pending",
  },
} satisfies ErrorTable;
