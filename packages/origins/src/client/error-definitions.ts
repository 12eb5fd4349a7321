import { type ErrorTable, SHARED_ERRORS } from "@sotto/protocol";

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
  INVALID_OPTION: SHARED_ERRORS.INVALID_OPTION,
} satisfies ErrorTable;
