// A header that says the right things. Its proofs are eight numbers: these tests are about what comes before a pairing.
import {
  amountBounds,
  type Bytes32,
  deriveKeys,
  encodeShieldedAddress,
  encryptAmount,
  hiddenCipherX,
  hintOf,
  noteCommitment,
  noteSecrets,
  type PaymentTokenClaims,
  type ProofHeader,
  paymentContext,
  randomField,
  randomScalar,
  randomSeed,
  recipientSignal,
  resourceDigest,
  resourceHash,
  signalsDigest,
  validUntilOf,
} from "@sotto/protocol";
import type { Demand, Merchant } from "../../src/checks/statement.ts";

export const PLACE = { chainId: 31337n, pool: `0x${"11".repeat(20)}` } as const;
export const PRICE = 10_000n;
export const RESOURCE = "https://data.example/reports/7?page=2";
export const demand: Demand = { resource: RESOURCE, bounds: amountBounds(PRICE) };

export interface TestMerchant extends Merchant {
  readonly viewingKey: bigint;
  readonly address: string;
}

export function createMerchant(wallet = `0x${"22".repeat(20)}` as const): TestMerchant {
  const keys = deriveKeys(randomSeed(), PLACE);
  const shielded = { encryptionKey: keys.encryptionKey, ownerTag: keys.ownerTag(0) };
  return { wallet, shielded, place: PLACE, viewingKey: keys.viewingKey, address: encodeShieldedAddress(shielded) };
}

export interface Wishes {
  readonly resource?: string;
  readonly place?: Merchant["place"];
  readonly amount?: bigint;
  readonly timestamp?: number;
}

export interface TestPayment {
  readonly header: ProofHeader;
  readonly claims: PaymentTokenClaims;
  readonly senderCommitment: bigint;
}

/** A payment to the merchant, and what an honest service says of it. */
export function paymentTo(merchant: Merchant, wishes: Wishes = {}): TestPayment {
  const { resource = RESOURCE, place = PLACE, amount = PRICE, timestamp = Date.now() } = wishes;
  const { encryptionKey, ownerTag } = merchant.shielded;
  const [senderCommitment, nullifier] = [randomField(), randomField()];
  const { R, C, S } = encryptAmount(encryptionKey, amount, randomScalar());
  const { blinding, pad } = noteSecrets(S.x, R.x);
  const validUntil = validUntilOf(timestamp);
  const digest = resourceDigest({ resourceUrl: resource, timestamp, senderCommitment });
  const publicSignals = [
    recipientSignal({ wallet: merchant.wallet, keyX: encryptionKey.x, ownerTag }, senderCommitment),
    paymentContext({ ...place, validUntil, resourceDigest: digest }),
    ...[R.x, hiddenCipherX(C.x, senderCommitment), hintOf(pad, amount), randomField(), nullifier],
    ...[noteCommitment({ amount, ownerTag, blinding }), randomField(), randomField()],
  ];
  const header: ProofHeader = {
    ...{ proof: [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n], publicSignals, encryptedAmount: { R, C } },
    ...{ amountProof: [8n, 7n, 6n, 5n, 4n, 3n, 2n, 1n], recipientPublicKey: merchant.wallet, timestamp },
    ...{ paymentToken: "a.b.c", txSignature: `0x${"33".repeat(32)}` as Bytes32 },
  };
  const claims: PaymentTokenClaims = {
    ...{ jti: "one", digest: signalsDigest(publicSignals), chainId: String(place.chainId) },
    pool: place.pool as PaymentTokenClaims["pool"],
    ...{ recipient: merchant.wallet, recipientKey: String(encryptionKey.x), recipientTag: String(ownerTag) },
    ...{
      resourceHash: resourceHash(resource),
      senderCommitment: String(senderCommitment),
      nullifier: String(nullifier),
      timestamp,
    },
    validUntil: Number(validUntil),
  };
  return { header, claims, senderCommitment };
}
