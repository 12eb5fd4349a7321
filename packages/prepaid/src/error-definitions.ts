import { type ErrorTable, SHARED_ERRORS } from "@sotto/protocol";

/** The errors of a mirror of prepaid keys and metered terms. */
export const MIRROR_ERRORS = {
  PREPAID_SCHEDULE_INVALID: {
    means: "A field of a prepaid schedule or of its signature is missing or malformed. The message names it.",
    cause: "The schedule was edited by hand, or was made by another program.",
    http: 400,
  },
  PREPAID_SIGNATURE_INVALID: {
    means: "The prepaid schedule or the terms of metered routes are not signed by their wallet.",
    cause: "Another account signed, or the schedule or the terms were changed after they were signed.",
    http: 401,
  },
  PREPAID_SCHEDULE_CONFLICT: {
    means: "The service keeps another prepaid key of this wallet and origin for a value and epoch. Nothing was kept.",
    cause: "The merchant made new keys instead of an addition, or shows payers different keys.",
    http: 409,
    remedy: "push the schedule that was signed first; a key is never replaced",
  },
  PREPAID_SCHEDULES_FULL: {
    means: "The service keeps the maximum number of prepaid schedules for this wallet and origin.",
    cause: "The merchant signed 24 schedules, each with a new key.",
    http: 422,
    remedy: "push to another service",
  },
  PREPAID_TERMS_INVALID: {
    means:
      "A field of the terms of metered routes or of their signature is missing or malformed. The message names it.",
    cause: "The terms were edited by hand, or were made by another program.",
    http: 400,
  },
  PREPAID_TERMS_CONTRADICTED: {
    means:
      "The service keeps terms of this wallet and origin that have another rule for a route, or another receipt key, in one month. " +
      "Nothing was kept.",
    cause: "The merchant changed a price or receipt key that it had signed, or shows payers different ones.",
    http: 409,
    remedy: "push the terms that were signed first; change prices from a later month on",
  },
  PREPAID_TERMS_FULL: {
    means: "The service has the maximum number of metered terms for this wallet and origin.",
    cause:
      "The merchant signed 24 terms for this month, the month before or later ones, or 24 for months of these terms.",
    http: 422,
    remedy: "push to another service",
  },
  WRONG_DEPLOYMENT: SHARED_ERRORS.WRONG_DEPLOYMENT,
  CHAIN_UNAVAILABLE: SHARED_ERRORS.CHAIN_UNAVAILABLE,
} satisfies ErrorTable;
