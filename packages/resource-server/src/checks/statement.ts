// Compares a header with the terms of the request: every check except the two proofs and the chain. Interface 4.6.1
// lists the proofs first, but the response is the same for every failed check, so the cheap ones come first.
import {
  type Address,
  type AmountBounds,
  checkCiphertext,
  checkFreshness,
  checkOpening,
  completeBundle,
  differingClaim,
  openingOf,
  type PaymentBundle,
  type PaymentSignals,
  type PaymentStatement,
  type PaymentTerms,
  type PaymentTokenClaims,
  type ProofHeader,
  parseStatement,
  type Recipient,
  tokenClaims,
  tryDecrypt,
  type Viewer,
} from "@sotto/protocol";
import { CheckFailed } from "../outcome.ts";

/** A header that matches its token and the terms; its proofs and its settlement are not verified yet. */
export interface HeaderStatement extends PaymentStatement {
  readonly header: ProofHeader;
}

/** Check 3 of interface 4.6.1. @throws CheckFailed RECIPIENT */
export function assertWallet({ recipientPublicKey }: ProofHeader, wallet: Address): void {
  if (recipientPublicKey !== wallet) throw new CheckFailed("RECIPIENT");
}

/**
 * The address that a token names, of those at which a payment of its time counts. `parseHeaderStatement` checks that the
 * payment is for it.
 * @throws CheckFailed RECIPIENT_MONTH
 */
export function paidAddress<A extends { readonly recipient: Recipient }>(
  { recipientKey }: PaymentTokenClaims,
  accepted: readonly A[],
): A {
  const address = accepted.find(({ recipient }) => String(recipient.keyX) === recipientKey);
  if (address === undefined) throw new CheckFailed("RECIPIENT_MONTH");
  return address;
}

/** Check 4 of interface 4.6.1, in both directions. @throws CheckFailed TOO_OLD, FROM_THE_FUTURE */
export function assertFresh({ timestamp }: ProofHeader, now: number): void {
  const stale = checkFreshness(timestamp, now);
  if (stale === undefined) return;
  // The payer's clock is ahead: the same header passes later, and Retry-After says when.
  const early = stale.kind === "FROM_THE_FUTURE" ? Math.ceil((stale.distanceMs - stale.limitMs) / 1000) : undefined;
  throw new CheckFailed(stale.kind, early);
}

/** A header may omit the rest of its bundle; fields that it has must be equal. */
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
 * Completes a header with the terms and with the sender commitment from its token, and checks that every claim of the
 * token matches it, that its signals open to this recipient and resource, and that both proofs use the ciphertext that
 * was sent. Only the token contains the sender commitment; the signals that it opens prove it.
 * @param claims the claims of a token whose signature was verified
 * @throws CheckFailed TOKEN_CLAIMS, BUNDLE, RECIPIENT_SIGNAL, RESOURCE_SIGNAL, CIPHERTEXT
 */
export function parseHeaderStatement(
  header: ProofHeader,
  claims: PaymentTokenClaims,
  terms: PaymentTerms,
): HeaderStatement {
  const statement = parseStatement(completeBundle(header, BigInt(claims.senderCommitment), terms));
  const { bundle, signals } = statement;
  if (differingClaim(claims, tokenClaims(statement, terms.deployment)) !== undefined)
    throw new CheckFailed("TOKEN_CLAIMS");
  if (!isSameBundle(header, bundle)) throw new CheckFailed("BUNDLE");
  const mismatch = checkOpening(signals, openingOf(statement, terms.deployment)) ?? checkCiphertext(bundle);
  if (mismatch !== undefined) throw new CheckFailed(mismatch.kind);
  return { ...statement, header };
}

/**
 * Decrypts the amount, base units, with the recipient's viewing key from the note that the payment creates.
 * @throws CheckFailed AMOUNT if the note cannot be decrypted, or if its amount is outside the proven bounds: the proofs
 * are then worthless, as with development keys
 */
export function decryptAmount(
  viewer: Viewer,
  signals: PaymentSignals,
  { lowerBound, upperBound }: AmountBounds,
): bigint {
  const amount = tryDecrypt(viewer, signals)?.amount;
  if (amount === undefined || amount < lowerBound || amount > upperBound) throw new CheckFailed("AMOUNT");
  return amount;
}
