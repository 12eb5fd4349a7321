// A valid header, except for its proofs, which are arbitrary numbers: these tests cover the checks before the proofs.
import {
  type Address,
  amountBounds,
  type Bytes32,
  completeBundle,
  type Deployment,
  deriveKeys,
  encodeShieldedAddress,
  encryptAmount,
  hiddenCipherX,
  hintOf,
  noteCommitment,
  noteSecrets,
  type PaymentTerms,
  type PaymentTokenClaims,
  type Point,
  type ProofHeader,
  parseStatement,
  type Recipient,
  randomField,
  randomScalar,
  randomSeed,
  signalsOfOpening,
  signalWords,
  tokenClaims,
} from "@sotto/protocol";
import { parseRecipients, type Recipients } from "../../src/paywall/recipients.ts";

export const DEPLOYMENT = { chainId: 31337n, pool: `0x${"11".repeat(20)}` } as const;
export const PRICE = 10_000n;
export const RESOURCE = "https://data.example/reports/7?page=2";

export interface TestRecipient extends Recipient {
  readonly wallet: Address;
  readonly encryptionKey: Point;
  readonly viewingKey: bigint;
  /** The encoded shielded address. */
  readonly address: string;
}

export function createRecipient(wallet: Address = `0x${"22".repeat(20)}`): TestRecipient {
  const keys = deriveKeys(randomSeed(), DEPLOYMENT);
  const { encryptionKey, viewingKey } = keys;
  const ownerTag = keys.ownerTag(0);
  const address = encodeShieldedAddress({ encryptionKey, ownerTag });
  return { wallet, keyX: encryptionKey.x, ownerTag, encryptionKey, viewingKey, address };
}

/** The paywall's view of a recipient with a lasting address. */
export const lastingRecipients = ({ wallet, address: shieldedAddress }: TestRecipient): Recipients =>
  parseRecipients({ recipient: { wallet, shieldedAddress, signature: "0x00", issuedAt: 0 } }, DEPLOYMENT);

/** The terms of a request for RESOURCE from this recipient. */
export const termsOf = ({ wallet, keyX, ownerTag }: Recipient): PaymentTerms => ({
  deployment: DEPLOYMENT,
  recipient: { wallet, keyX, ownerTag },
  resourceUrl: RESOURCE,
  bounds: amountBounds(PRICE),
});

export interface PaymentChanges {
  readonly resource?: string;
  readonly deployment?: Deployment;
  readonly amount?: bigint;
  readonly timestamp?: number;
}

export interface TestPayment {
  readonly header: ProofHeader;
  readonly claims: PaymentTokenClaims;
  readonly senderCommitment: bigint;
}

/** A payment to the recipient, with the claims of an honest service's token. */
export function paymentTo(recipient: TestRecipient, changes: PaymentChanges = {}): TestPayment {
  const { resource = RESOURCE, deployment = DEPLOYMENT, amount = PRICE, timestamp = Date.now() } = changes;
  const { wallet, keyX, ownerTag, encryptionKey } = recipient;
  const senderCommitment = randomField();
  const { R, C, S } = encryptAmount(encryptionKey, amount, randomScalar());
  const { blinding, pad } = noteSecrets(S.x, R.x);
  const opening = { deployment, recipient: { wallet, keyX, ownerTag }, resourceUrl: resource, timestamp };
  const publicSignals = signalWords("payment", {
    ...signalsOfOpening({ ...opening, senderCommitment }),
    ephemeralX: R.x,
    hiddenCipherX: hiddenCipherX(C.x, senderCommitment),
    amountHint: hintOf(pad, amount),
    root: randomField(),
    nullifier: randomField(),
    recipientCommitment: noteCommitment({ amount, ownerTag, blinding }),
    changeCommitment: randomField(),
    changeHint: randomField(),
  });
  const header: ProofHeader = {
    proof: [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n],
    publicSignals,
    encryptedAmount: { R, C },
    amountProof: [8n, 7n, 6n, 5n, 4n, 3n, 2n, 1n],
    recipientPublicKey: wallet,
    timestamp,
    paymentToken: "a.b.c",
    txSignature: `0x${"33".repeat(32)}` as Bytes32,
  };
  const asked = { ...termsOf(recipient), deployment, resourceUrl: resource };
  const statement = parseStatement(completeBundle(header, senderCommitment, asked));
  return { header, claims: { jti: "one", ...tokenClaims(statement, deployment) }, senderCommitment };
}
