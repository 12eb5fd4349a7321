// Payments whose proofs verify. They take milliseconds, because the trapdoor of the development keys replaces the witness.

import { proveWithTrapdoor } from "@sotto/keys/setup/trapdoor";
import {
  deriveKeys,
  encryptAmount,
  hiddenCipherX,
  type Point,
  packCiphertext,
  paymentContext,
  randomField,
  randomScalar,
  randomSeed,
  recipientSignal,
  resourceDigest,
  validUntilOf,
  type WireBundle,
} from "@sotto/protocol";
import type { World } from "./service.ts";

export const RECIPIENT = `0x${"5e".repeat(20)}`;
export const RESOURCE = "https://data.example/articles/42?lang=en";

export interface Payment {
  readonly root: bigint;
  readonly amount?: bigint;
  readonly lowerBound?: bigint;
  readonly upperBound?: bigint;
  readonly nullifier?: bigint;
  readonly timestamp?: number;
  readonly recipient?: string;
  readonly resourceUrl?: string;
  readonly senderCommitment?: bigint;
}

/** Changes that no honest payer makes, for bundles that must be refused even though their proofs verify. */
export interface Lies {
  readonly publicSignals?: Readonly<Record<number, bigint>>;
  readonly amountPublicSignals?: Readonly<Record<number, bigint>>;
  readonly bundle?: Partial<WireBundle>;
  /** An owner tag of the payer, sent with the merchant's wallet. */
  readonly ownerTag?: bigint;
  /** An encryption key of the payer, sent with the merchant's tag. */
  readonly key?: Point;
}

/** The service's tests pay to the same key in every pool. */
const merchant = deriveKeys(randomSeed(), { chainId: 31337n, pool: `0x${"5a".repeat(20)}` });
export const merchantKey: Point = merchant.encryptionKey;
export const merchantTag: bigint = merchant.ownerTag(0);

const apply = (signals: bigint[], changes: Readonly<Record<number, bigint>> = {}) =>
  signals.map((signal, index) => changes[index] ?? signal);

export function forgeBundle(world: Pick<World, "chainId" | "pool">, payment: Payment, lies: Lies = {}): WireBundle {
  const { root, amount = 1_000_000n, recipient = RECIPIENT, resourceUrl = RESOURCE } = payment;
  const { lowerBound = amount, upperBound = (amount * 11n) / 10n, timestamp = Date.now() } = payment;
  const { nullifier = randomField(), senderCommitment = randomField() } = payment;
  const { ownerTag = merchantTag, key = merchantKey } = lies;
  const { R, C } = encryptAmount(key, amount, randomScalar());
  const place = { chainId: BigInt(world.chainId), pool: world.pool };
  const digest = resourceDigest({ resourceUrl, timestamp, senderCommitment });
  const publicSignals = apply(
    [
      recipientSignal({ wallet: recipient, keyX: key.x, ownerTag }, senderCommitment),
      paymentContext({ ...place, validUntil: validUntilOf(timestamp), resourceDigest: digest }),
      R.x,
      hiddenCipherX(C.x, senderCommitment),
      randomField(),
      root,
      nullifier,
      randomField(),
      randomField(),
      randomField(),
    ],
    lies.publicSignals,
  );
  const amountSignals = apply([R.x, C.x, key.x, ownerTag, lowerBound, upperBound], lies.amountPublicSignals);
  return {
    ...proveWithTrapdoor("payment", publicSignals),
    encryptedAmount: packCiphertext({ R, C }),
    amountProof: proveWithTrapdoor("elgamal_range", amountSignals).proof,
    amountPublicSignals: amountSignals.map(String),
    senderCommitment: String(senderCommitment),
    recipientPublicKey: recipient,
    resourceUrl,
    timestamp,
    ...lies.bundle,
  };
}

/** The six fields of a settle request. */
export function settleRequest(bundle: WireBundle, paymentToken: unknown): Record<string, unknown> {
  const { proof, publicSignals, encryptedAmount, recipientPublicKey, resourceUrl } = bundle;
  return { proof, publicSignals, encryptedAmount, paymentToken, resource: resourceUrl, recipientPublicKey };
}
