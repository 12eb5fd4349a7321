// Compares what a header says with what this server asks for: everything but the two proofs and the chain. The interface
// (4.6.1) lists the proofs first; the answer is the same whichever check fails, so the cheap ones are made first.
import {
  type AmountBounds,
  checkCiphertext,
  checkFreshness,
  checkOpening,
  completeBundle,
  differingClaim,
  openingOf,
  type PaymentBundle,
  type PaymentStatement,
  type PaymentTerms,
  type PaymentTokenClaims,
  type ProofHeader,
  readStatement,
  tokenClaims,
} from "@sotto/protocol";
import { CheckFailed } from "../outcome.ts";

/** What one request asks of its payment. */
export type RequestTerms = PaymentTerms & { readonly bounds: AmountBounds };

/** A header that says the right things, none of them proven yet. */
export interface HeaderStatement extends PaymentStatement {
  readonly header: ProofHeader;
}

/** Check 3 of interface 4.6.1. Throws CheckFailed RECIPIENT. */
export function assertRecipient({ recipientPublicKey }: ProofHeader, { recipient }: PaymentTerms): void {
  if (recipientPublicKey !== recipient.wallet) throw new CheckFailed("RECIPIENT");
}

/** Check 4 of interface 4.6.1, in both directions. Throws CheckFailed TOO_OLD, FROM_THE_FUTURE. */
export function assertFresh({ timestamp }: ProofHeader, now: number): void {
  const stale = checkFreshness(timestamp, now);
  if (stale === undefined) return;
  // A payment from a clock that is ahead of this one is accepted later: its payer is told when.
  const early = stale.kind === "FROM_THE_FUTURE" ? Math.ceil((stale.distanceMs - stale.limitMs) / 1000) : undefined;
  throw new CheckFailed(stale.kind, early);
}

/** The rest of a bundle may be left out of a header; what is sent must be the same. */
function isSameBundle(header: ProofHeader, bundle: PaymentBundle): boolean {
  const { senderCommitment = bundle.senderCommitment, resourceUrl = bundle.resourceUrl } = header;
  const { amountPublicSignals = bundle.amountPublicSignals } = header;
  return (
    senderCommitment === bundle.senderCommitment &&
    resourceUrl === bundle.resourceUrl &&
    amountPublicSignals.every((signal, i) => signal === bundle.amountPublicSignals[i])
  );
}

/**
 * What a header says, completed by the terms and by the sender commitment of its token: every claim of the token is true
 * of it, its signals open to this recipient and resource, and both proofs are about the ciphertext that was sent. The
 * sender commitment, which nothing else tells, is proven by the signals that it opens.
 *
 * @param claims of the token, whose signature was checked
 * @throws CheckFailed TOKEN_CLAIMS, BUNDLE, RECIPIENT_SIGNAL, RESOURCE_SIGNAL, CIPHERTEXT
 */
export function readHeaderStatement(
  header: ProofHeader,
  claims: PaymentTokenClaims,
  terms: RequestTerms,
): HeaderStatement {
  const statement = readStatement(completeBundle(header, BigInt(claims.senderCommitment), terms));
  const { bundle, signals } = statement;
  if (differingClaim(claims, tokenClaims(statement, terms.deployment)) !== undefined)
    throw new CheckFailed("TOKEN_CLAIMS");
  if (!isSameBundle(header, bundle)) throw new CheckFailed("BUNDLE");
  const mismatch = checkOpening(signals, openingOf(statement, terms.deployment)) ?? checkCiphertext(bundle);
  if (mismatch !== undefined) throw new CheckFailed(mismatch.kind);
  return { ...statement, header };
}
