// Checks before a payment that its proof will fit into the server's header limit.
import { MAX_PROOF_HEADER_LENGTH, maxProofHeaderLength } from "@sotto/protocol";
import { PurchaseError } from "./errors.ts";

/**
 * Returns the maximum length of X-Payment-Proof for this server, in characters.
 * @param stated the server's own limit. Default: the limit of the interface
 * @throws PurchaseError PURCHASE_INVALID, PROOF_HEADER_TOO_LONG
 */
export function assertHeaderLimit(stated: number = MAX_PROOF_HEADER_LENGTH): number {
  if (!Number.isSafeInteger(stated) || stated < 1)
    throw new PurchaseError("PURCHASE_INVALID", `maxHeaderLength must be a positive integer, got ${stated}`);
  const limit = Math.min(stated, MAX_PROOF_HEADER_LENGTH);
  const needed = maxProofHeaderLength();
  if (needed <= limit) return limit;
  throw new PurchaseError(
    "PROOF_HEADER_TOO_LONG",
    `the server accepts ${limit} characters in the header X-Payment-Proof, but a proof can have ${needed}; ` +
      "nothing was paid; ask the server's operator to raise the limit",
    { needed, limit },
  );
}
