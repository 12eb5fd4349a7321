// What a header says, held against what the shop knows: everything but the two proofs and the chain. Cheap, and so done
// first, although interface 4.6.1 lists the proofs first: whichever check fails, the answer is the same.
import {
  type Address,
  type AmountBounds,
  assertSameCiphertext,
  type Bytes32,
  type Deployment,
  type PaymentBundle,
  type PaymentTokenClaims,
  type ProofHeader,
  paymentContext,
  recipientSignal,
  resourceDigest,
  resourceHash,
  type ShieldedAddress,
  signalsDigest,
  validUntilOf,
} from "@sotto/protocol";
import { CheckFailed, type Failure } from "./outcome.ts";

/** Milliseconds a header is fresh. */
export const FRESH_MS = 300_000;
/** Milliseconds a payer's clock may be ahead. */
export const SKEW_MS = 30_000;

/** Where public signals stand. */
const RECIPIENT = 0;
const RESOURCE = 1;
const NULLIFIER = 6;

/** Who is paid, where: the shop's own configuration. */
export interface Merchant {
  readonly wallet: Address;
  readonly shielded: ShieldedAddress;
  readonly place: Deployment;
}

/** What is to be shown for one request. */
export interface Demand {
  /** Origin and target, unchanged. */
  readonly resource: string;
  readonly bounds: AmountBounds;
}

/** A header that says the right things, none of them proven yet. */
export interface Statement {
  readonly header: ProofHeader;
  readonly digest: Bytes32;
  readonly nullifier: bigint;
  /** Seconds. */
  readonly validUntil: bigint;
  /** Public signals of the range proof that the shop asks for. */
  readonly rangeSignals: readonly bigint[];
}

/** Check 3 of interface 4.6.1. */
export function checkRecipient({ recipientPublicKey }: ProofHeader, { wallet }: Merchant): void {
  if (recipientPublicKey !== wallet) throw new CheckFailed("RECIPIENT");
}

/** Check 4 of interface 4.6.1, and its mirror image. */
export function checkTime({ timestamp }: ProofHeader, now: number): void {
  if (now - timestamp > FRESH_MS) throw new CheckFailed("TOO_OLD");
  // Paid on a clock that is ahead of ours: its time comes, and its payer must not take it for lost.
  const early = timestamp - now - SKEW_MS;
  if (early > 0) throw new CheckFailed("FROM_THE_FUTURE", Math.ceil(early / 1000));
}

/** Every claim equals what is known otherwise; the sender commitment, which is not, is proven by the signals it opens. */
export function checkClaims(claims: PaymentTokenClaims, header: ProofHeader, merchant: Merchant, demand: Demand): void {
  const { wallet, shielded, place } = merchant;
  const { publicSignals, timestamp } = header;
  const expected: Partial<PaymentTokenClaims> = {
    digest: signalsDigest(publicSignals),
    chainId: String(place.chainId),
    pool: place.pool as Address,
    recipient: wallet,
    recipientKey: String(shielded.encryptionKey.x),
    recipientTag: String(shielded.ownerTag),
    resourceHash: resourceHash(demand.resource),
    nullifier: String(publicSignals[NULLIFIER]),
    timestamp,
    validUntil: Number(validUntilOf(timestamp)),
  };
  const names = Object.keys(expected) as (keyof PaymentTokenClaims)[];
  if (names.some((name) => claims[name] !== expected[name])) throw new CheckFailed("TOKEN_CLAIMS");
}

/** The rest of a bundle need not be sent; where it is, it says the same. */
function checkBundle(bundle: PaymentBundle, header: ProofHeader): void {
  const { senderCommitment = bundle.senderCommitment, resourceUrl = bundle.resourceUrl } = header;
  const { amountPublicSignals = bundle.amountPublicSignals } = header;
  const same =
    senderCommitment === bundle.senderCommitment &&
    resourceUrl === bundle.resourceUrl &&
    amountPublicSignals.every((signal, i) => signal === bundle.amountPublicSignals[i]);
  if (!same) throw new CheckFailed("BUNDLE");
}

function demanded(failure: Failure, found: bigint | undefined, expected: bigint): void {
  if (found !== expected) throw new CheckFailed(failure);
}

/** Signals 0 and 1 open to this merchant and this resource, and both proofs are about the ciphertext that was sent. */
export function checkSignals(
  header: ProofHeader,
  senderCommitment: bigint,
  merchant: Merchant,
  { resource, bounds }: Demand,
): Statement {
  const { publicSignals, encryptedAmount, timestamp } = header;
  const { wallet, shielded, place } = merchant;
  const { R, C } = encryptedAmount;
  const keyX = shielded.encryptionKey.x;
  const rangeSignals = [R.x, C.x, keyX, shielded.ownerTag, bounds.lowerBound, bounds.upperBound];
  const bundle = { ...header, amountPublicSignals: rangeSignals, senderCommitment, resourceUrl: resource };
  checkBundle(bundle, header);
  const recipient = { wallet, keyX, ownerTag: shielded.ownerTag };
  demanded("RECIPIENT_SIGNAL", publicSignals[RECIPIENT], recipientSignal(recipient, senderCommitment));
  const validUntil = validUntilOf(timestamp);
  const context = paymentContext({ ...place, validUntil, resourceDigest: resourceDigest(bundle) });
  demanded("RESOURCE_SIGNAL", publicSignals[RESOURCE], context);
  try {
    assertSameCiphertext(bundle);
  } catch {
    throw new CheckFailed("CIPHERTEXT");
  }
  const nullifier = publicSignals[NULLIFIER] as bigint;
  return { header, digest: signalsDigest(publicSignals), nullifier, validUntil, rangeSignals };
}
