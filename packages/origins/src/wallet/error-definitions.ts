import { type ErrorTable, SHARED_ERRORS } from "@sotto/protocol";

/** The errors of a wallet that follows curators. */
export const ORIGIN_ERRORS = {
  INVALID_OPTION: SHARED_ERRORS.INVALID_OPTION,
  ORIGIN_NOT_FOLLOWED: {
    means: "The wallet does not follow this set, or has not read a head of it yet. Details: `set`.",
    cause: "The set was never followed, its key or name has a typo, or it was followed moments ago.",
    exit: "refused",
    remedy: "follow the set with `sotto origin follow`, then run `sotto origin sync`",
  },
  ORIGIN_NOT_IN_SET: {
    means: "The note is not in the set at the newest head, so its origin cannot be shown. Details: `leafIndex`, `why`.",
    cause: "The curator has not accepted the deposit, a payer before made no claim, or the next head is not there yet.",
    exit: "refused",
    remedy: "`sotto origin status` says for each note what it waits for",
  },
  ORIGIN_CROWD_SMALL: {
    means:
      "Fewer notes than the minimum could be the one whose origin would be shown, so nothing was shown. Details: `crowd`, `minimum`.",
    cause: "The set is small, or the wallet has shown origins for several sets that have few notes in common.",
    exit: "refused",
    remedy: "wait until the set grows, or accept a smaller crowd with `sotto origin follow --minimum-crowd`",
  },
  ORIGIN_REMOVAL_LARGE: {
    means:
      "The curator removed many notes from the set, so the wallet does not take the head until its owner consents. Details: `removed`, `limit`.",
    cause:
      "The curator refuses deposits that it had accepted, or it tries to find out which note is the wallet's by sets that each leave out a part.",
    exit: "refused",
    remedy: "ask the curator why; accept it with `sotto origin follow --accept-removal`",
  },
  ORIGIN_MIRROR_FAILED: {
    means:
      "A mirror of the set's heads does not answer, or not with a head of the set, so the new head cannot be compared. The last one stays. Details: `mirror`.",
    cause: "The mirror is down, its URL has a typo, or it does not keep this set.",
    exit: "network",
  },
  ORIGIN_BLOCK_UNKNOWN: {
    means: "The head is of a block that is not on the wallet's chain, so the wallet does not take it.",
    cause: "The chain was reorganized, or the curator follows another chain than the wallet's node.",
    exit: "network",
    remedy: "wait for the next head; if it stays, compare the node of the wallet with another one",
  },
  CURATOR_UNREACHABLE: {
    means: "A file of the set cannot be read, from its curator or from a mirror.",
    cause: "The curator's server is down, the URL of the set is wrong, or the server leaves a file out.",
    exit: "network",
  },
  CURATOR_FILE_WRONG: {
    means: "A file of the set is not the one that the signed head names.",
    cause: "The server's files are damaged, or somebody on the way changed the answer.",
    exit: "network",
  },
  CURATOR_HEAD_INVALID: {
    means:
      "A head of the set is malformed, of another set, not signed by its curator, or does not follow the head before it.",
    cause: "The URL is that of another set, the key is wrong, or the server's files are damaged.",
    exit: "invalid",
  },
  CURATOR_WENT_BACK: {
    means: "The curator shows an older head than before. The wallet never goes back.",
    cause: "The curator was restored from a backup, or a cache serves old files.",
    exit: "invalid",
  },
  CURATOR_EQUIVOCATED: {
    means:
      "The curator signed two different heads with one number or one time. The wallet follows it no longer, and keeps both heads as evidence.",
    cause: "The curator shows payers different sets, or two programs sign with its key.",
    exit: "invalid",
    remedy: "`sotto origin status --json` has both heads: they convict the curator. Use the set of another curator",
  },
  CURATOR_MASK_FALSE: {
    means:
      "The signed roots are not those of the bitmaps and the pool's notes. The wallet follows the curator no longer, and keeps the head as evidence.",
    cause: "The curator's program is faulty, or it published a set that nobody can prove to be in.",
    exit: "invalid",
    remedy: "`sotto origin status --json` has the head: it convicts the curator. Use the set of another curator",
  },
} satisfies ErrorTable;
