import { type ErrorTable, SHARED_ERRORS } from "@sotto/protocol";
import { ORIGIN_HEAD_ERRORS } from "../heads/error-definitions.ts";

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
  ORIGIN_HEAD_OLD: {
    means:
      "The newest head that the wallet read is more than half an hour old, and it could not find out whether there is a newer one, so nothing new is shown. Details: `ageMs`.",
    cause: "The curator or a mirror cannot be reached, or the curator has stopped.",
    exit: "network",
    remedy: "run `sotto origin sync`, and `sotto origin status` to see what fails",
  },
  ORIGIN_TOO_LATE: {
    means:
      "The origin of a note was shown for a root that was replaced more than an hour before the note was spent, so there is no evidence of it. Details: `transaction`.",
    cause:
      "The proof was made long before the payment was: a payment that was prepared, or sent again after a long stop.",
    exit: "refused",
  },
  ORIGIN_SPEND_UNKNOWN: {
    means: "No confirmed payment, merge or withdrawal of this wallet is in the transaction. Details: `transaction`.",
    cause: "The hash has a typo, the transaction is too recent, or another wallet made it.",
    exit: "refused",
    remedy: "`sotto payments` lists the wallet's transactions",
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
  CURATOR_UNREACHABLE: ORIGIN_HEAD_ERRORS.CURATOR_UNREACHABLE,
  CURATOR_FILE_WRONG: {
    means: "A file of the set is not the one that the signed head names.",
    cause: "The server's files are damaged, or somebody on the way changed the answer.",
    exit: "network",
  },
  CURATOR_HEAD_INVALID: ORIGIN_HEAD_ERRORS.CURATOR_HEAD_INVALID,
  CURATOR_WENT_BACK: ORIGIN_HEAD_ERRORS.CURATOR_WENT_BACK,
  CURATOR_EQUIVOCATED: ORIGIN_HEAD_ERRORS.CURATOR_EQUIVOCATED,
  CURATOR_MASK_FALSE: {
    means:
      "The signed roots are not those of the bitmaps and the pool's notes. The wallet follows the curator no longer, and keeps the head as evidence.",
    cause: "The curator's program is faulty, or it published a set that nobody can prove to be in.",
    exit: "invalid",
    remedy: "`sotto origin status --json` has the head: it convicts the curator. Use the set of another curator",
  },
} satisfies ErrorTable;
