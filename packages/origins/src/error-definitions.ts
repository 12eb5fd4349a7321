import type { ErrorTable } from "@sotto/protocol";

/** The errors of evidence files. */
export const EVIDENCE_ERRORS = {
  EVIDENCE_MALFORMED: {
    means: "A text is not evidence of an origin: a field is missing, malformed or too large, or a head is not signed.",
    cause: "The text was cut off or changed, or is a different JSON text.",
    exit: "invalid",
  },
  EVIDENCE_INVALID: {
    means: "The evidence does not show that the transaction's money was in the set. The message says why.",
    cause: "Someone changed it, or it is of another set, or the notes were spent after the curator had removed them.",
    exit: "invalid",
  },
  EVIDENCE_NOT_SETTLED: {
    means: "The chain does not have the evidence's block, or not with enough confirmations.",
    cause: "The transaction is too recent, was removed by a reorganization, or never happened.",
    exit: "invalid",
  },
} satisfies ErrorTable;
