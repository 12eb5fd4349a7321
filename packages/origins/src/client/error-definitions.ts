import type { ErrorTable } from "@sotto/protocol";

/** The errors of showing origins with payments. */
export const ORIGIN_CLIENT_ERRORS = {
  ORIGIN_NOT_READY: {
    means:
      "No note that suffices can show where its money comes from, for a set that the server asks for. Nothing was paid.",
    cause:
      "The notes are outside of the set, or their last payment is not in it yet: that takes confirmations, a claim and a head of the curator.",
    exit: "refused",
    remedy: "try again in some minutes, or let payments be made without an origin",
  },
  ORIGIN_OPTION_INVALID: {
    means: "An option of `showOrigins` is missing or wrong. The message names it.",
    cause: "An option has a typo, or the wallet follows no set.",
    exit: "usage",
  },
} satisfies ErrorTable;
