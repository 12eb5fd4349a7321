import type { ErrorTable } from "@sotto/protocol";

/** The errors of a service that makes origins a condition, and mirrors heads. */
export const ORIGIN_SERVICE_ERRORS = {
  ORIGIN_REQUIRED: {
    means: "The service settles payments to this recipient only with an origin. Nothing was paid.",
    cause: "The field `origin` of /verify is missing: the wallet does not follow the set that the message names.",
    http: 422,
    exit: "refused",
    remedy: "follow the set that the message names, and pay from a note that is in it",
  },
  ORIGIN_REFUSED: {
    means:
      "The origin that was shown is not that of a set that the service requires for this recipient. Nothing was paid.",
    cause: "Its root is not a head of the set, was replaced too long ago, or its proof is of another payment.",
    http: 422,
    exit: "refused",
    remedy: "update the wallet's view of the set that the message names, and pay again",
  },
  ORIGIN_UNCHECKED: {
    means:
      "The service has not read a head of the set that it requires, so it cannot check an origin. Nothing was paid.",
    cause: "The service has just started, or the curator cannot be reached.",
    http: 503,
    exit: "network",
  },
  ORIGIN_HEADS_UNKNOWN: {
    means: "The service has no heads of this set, or not this pack of them.",
    cause: "The service does not mirror the set, or began to later.",
    http: 404,
  },
} satisfies ErrorTable;
