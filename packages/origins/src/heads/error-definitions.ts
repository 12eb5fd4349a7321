import type { ErrorTable } from "@sotto/protocol";

/** The errors of reading a curator's heads. */
export const ORIGIN_HEAD_ERRORS = {
  CURATOR_UNREACHABLE: {
    means: "A file of the set cannot be read, from its curator or from a mirror. The heads that are known age.",
    cause: "The curator's server is down, the URL of the set is wrong, or the server leaves a file out.",
    exit: "network",
  },
  CURATOR_HEAD_INVALID: {
    means:
      "A head of the set is malformed, of another set, not signed by its curator, or does not follow the head before it.",
    cause: "The URL is that of another set, the key is wrong, or the server's files are damaged.",
    exit: "invalid",
  },
  CURATOR_WENT_BACK: {
    means: "The curator shows an older head than before. Nobody goes back to it.",
    cause: "The curator was restored from a backup, or a cache serves old files.",
    exit: "invalid",
  },
  CURATOR_EQUIVOCATED: {
    means:
      "The curator signed two different heads with one number or one time. No head of the set is taken any more. A wallet keeps both as evidence.",
    cause: "The curator shows payers different sets, or two programs sign with its key.",
    exit: "invalid",
    remedy:
      "keep both heads, which `sotto origin status --json` shows: they convict the curator. Use the set of another curator",
  },
} satisfies ErrorTable;
