// Whether the proof of a payment fits into a header, looked at before anything is paid.
import { MAX_PROOF_HEADER_LENGTH, maxProofHeaderLength } from "@sotto/protocol";
import { PurchaseError } from "./errors.ts";

/**
 * Characters of X-Payment-Proof that the server takes.
 *
 * @param stated by the server; left out: the most that any server takes
 * @throws PurchaseError PURCHASE_INVALID, PROOF_HEADER_TOO_LONG
 */
export function checkHeaderLimit(stated: number = MAX_PROOF_HEADER_LENGTH): number {
  if (!Number.isSafeInteger(stated) || stated < 1)
    throw new PurchaseError("PURCHASE_INVALID", `maxHeaderLength must be a positive integer, got ${stated}`);
  const limit = Math.min(stated, MAX_PROOF_HEADER_LENGTH);
  const needed = maxProofHeaderLength();
  if (needed <= limit) return limit;
  throw new PurchaseError(
    "PROOF_HEADER_TOO_LONG",
    `the server takes ${limit} characters in the header X-Payment-Proof, but a proof can have ${needed}. ` +
      "Nothing was paid; the server's operator has to raise its limit",
    { needed, limit },
  );
}
