// Payments whose proofs verify, forged in milliseconds with the trapdoor of the development keys. They are valid unless
// a test falsifies a value. The notes are real: the viewing key can read their amounts.

import { proveWithTrapdoor } from "@sotto/keys/setup/trapdoor";
import {
  encodeProofHeader,
  encryptAmount,
  hiddenCipherX,
  hintOf,
  noteCommitment,
  noteSecrets,
  type ProofHeaderContent,
  packCiphertext,
  paymentContext,
  randomField,
  randomScalar,
  recipientSignal,
  resourceDigest,
  type ShieldedAddress,
  validUntilOf,
  type WireBundle,
} from "@sotto/protocol";

export interface Place {
  readonly chainId: number;
  readonly pool: string;
}

/** The recipient of a payment. */
export interface Payee {
  readonly wallet: string;
  readonly shielded: ShieldedAddress;
}

export interface Terms {
  readonly to: Payee;
  readonly root: bigint;
  /** The price in base units, from which the bounds are derived. */
  readonly price: bigint;
  readonly resource: string;
  /** The default is the price. */
  readonly amount?: bigint;
  readonly lowerBound?: bigint;
  readonly upperBound?: bigint;
  readonly nullifier?: bigint;
  readonly commitments?: readonly [bigint, bigint];
  readonly timestamp?: number;
  readonly senderCommitment?: bigint;
  /** The wallet in the signals, if it is not the wallet of `to`. */
  readonly signalWallet?: string;
}

/** A bundle whose two proofs verify for its signals. */
export function forge(place: Place, terms: Terms): WireBundle {
  const { to, root, price, resource: resourceUrl, amount = price, timestamp = Date.now() } = terms;
  const { lowerBound = price, upperBound = (price * 11n) / 10n, signalWallet = to.wallet } = terms;
  const { nullifier = randomField(), senderCommitment = randomField() } = terms;
  const { encryptionKey, ownerTag } = to.shielded;
  const { R, C, S } = encryptAmount(encryptionKey, amount, randomScalar());
  const { blinding, pad } = noteSecrets(S.x, R.x);
  const { commitments = [noteCommitment({ amount, ownerTag, blinding }), randomField()] } = terms;
  const at = { chainId: BigInt(place.chainId), pool: place.pool };
  const digest = resourceDigest({ resourceUrl, timestamp, senderCommitment });
  const publicSignals = [
    recipientSignal({ wallet: signalWallet, keyX: encryptionKey.x, ownerTag }, senderCommitment),
    paymentContext({ ...at, validUntil: validUntilOf(timestamp), resourceDigest: digest }),
    R.x,
    hiddenCipherX(C.x, senderCommitment),
    hintOf(pad, amount),
    root,
    nullifier,
    ...commitments,
    randomField(),
  ];
  const range = [R.x, C.x, encryptionKey.x, ownerTag, lowerBound, upperBound];
  return {
    ...proveWithTrapdoor("payment", publicSignals),
    encryptedAmount: packCiphertext({ R, C }),
    amountProof: proveWithTrapdoor("elgamal_range", range).proof,
    amountPublicSignals: range.map(String),
    senderCommitment: String(senderCommitment),
    recipientPublicKey: to.wallet,
    resourceUrl,
    timestamp,
  };
}

/** The header of a settled payment, or of one that claims to be settled. */
export const headerOf = (content: ProofHeaderContent): string => encodeProofHeader(content);

/** The header without its optional fields, because they would expose a lie before the check under test runs. */
export function bareHeaderOf(content: ProofHeaderContent): string {
  const { senderCommitment, amountPublicSignals, resourceUrl, ...listed } = JSON.parse(encodeProofHeader(content));
  return JSON.stringify(listed);
}

export const showing = (value: string): Record<string, string> => ({ "x-payment-proof": value });
