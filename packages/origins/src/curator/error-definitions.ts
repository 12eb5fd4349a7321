import { DATABASE_ERRORS } from "@sotto/database";
import { type ErrorTable, SHARED_ERRORS } from "@sotto/protocol";

/** The errors of a curator. */
export const CURATOR_ERRORS = {
  ORIGIN_ROOT_UNKNOWN: {
    means: "No head of this set has the claim's mask root. It is a result of a claim, not of a request.",
    cause: "The origin was proved for another set, or for a head that the curator never published.",
    remedy: "follow the curator's newest head, and prove the origin again",
  },
  ORIGIN_PROOF_INVALID: {
    means:
      "The claim's proof does not prove this nullifier and mask root. It is a result of a claim, not of a request.",
    cause: "The proof was changed, or was made for another nullifier, another root or other keys of the circuit.",
    remedy: "prove the origin again",
  },
  ORIGIN_NOT_SETTLED: {
    means:
      "No event with enough confirmations shows the claim's nullifier. Nothing was stored. It is a result of a claim, not of a request.",
    cause: "The payment is too recent, or did not settle.",
    remedy: "send the claim again once the payment has the curator's confirmations",
  },
  ORIGIN_ROOT_STALE: {
    means:
      "The claim's mask root was replaced more than an hour before the payment's block. Nothing was stored. It is a result of a claim, not of a request.",
    cause: "The origin was proved long before the payment settled.",
    remedy: "prove the origin with a root that was the newest at the payment",
  },
  ORIGIN_CLAIM_CONFLICT: {
    means: "The nullifier has a claim with another mask root that counts. It is a result of a claim, not of a request.",
    cause: "A wallet proved two heads for one note, for example after its data was restored.",
  },
  ORIGIN_LEAF_UNKNOWN: {
    means: "The curator knows no deposit at this leaf.",
    cause: "The leaf belongs to a payment, its deposit lacks confirmations, or the number has a typo.",
    remedy: "give the `leafIndex` of the deposit's event, once it is confirmed",
  },
  ORIGIN_JUDGE_FAILED: {
    means: "A list or the webhook did not answer, or not as it should. Deposits wait, or the last list stays in force.",
    cause: "The list has moved, is empty or too large, or the webhook's program fails.",
    remedy: "correct the list or the program; the curator asks again by itself",
  },
  ORIGIN_STORE_MISMATCH: {
    means: "The curator's database belongs to another set.",
    cause: "The key, the name of the set, the chain or the pool was changed, or the URL names another database.",
    remedy: "correct the settings; a new set needs a new database and a new folder",
  },
  ORIGIN_STORE_OUTDATED: {
    means: "A head was published that the curator's database does not have. It never signs two heads of one number.",
    cause: "An old backup was restored, or another curator signs with the same key.",
    remedy: "restore the newest database; if it is lost, begin a new set under another name",
  },
  ORIGIN_STORE_DAMAGED: {
    means: "The mask root that follows from the curator's database is not the one of its own last head.",
    cause: "Someone changed the database, or only part of it was restored.",
    remedy: "restore a backup of the whole database that is not older than the last head",
  },
  WRONG_CHAIN: SHARED_ERRORS.WRONG_CHAIN,
  CHAIN_UNAVAILABLE: SHARED_ERRORS.CHAIN_UNAVAILABLE,
  STORE_UNAVAILABLE: DATABASE_ERRORS.STORE_UNAVAILABLE,
} satisfies ErrorTable;
