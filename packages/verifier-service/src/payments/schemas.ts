import { CIRCUITS } from "@sotto/protocol";
import type { VerifyField } from "@sotto/server";
import { type Static, Type } from "typebox";
import { Address, Decimal, Proof, Status, Url, words } from "../operations/schemas.ts";

const MAX_TOKEN_LENGTH = 8192;

const PaymentSignals = words(CIRCUITS.payment.signalCount, "public signals of the payment circuit, decimal, in order");
const EncryptedAmount = Type.String({
  minLength: 130,
  maxLength: 130,
  description: "pack(R) then pack(C), 64 bytes as lower-case hex with 0x",
});

const bundle = {
  proof: Proof,
  publicSignals: PaymentSignals,
  encryptedAmount: EncryptedAmount,
  amountProof: words(8, "Groth16 proof of the elgamal_range circuit, decimal"),
  amountPublicSignals: words(CIRCUITS.elgamal_range.signalCount, "its public signals, decimal, in order"),
  senderCommitment: Decimal,
  recipientPublicKey: Address,
  resourceUrl: Url("URL of the resource that is paid for"),
  timestamp: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: "creation time, Unix ms" }),
};

/** @param fields those that extensions read */
export const verifyBody = (fields: readonly VerifyField[]) =>
  Type.Object(
    {
      ...Object.fromEntries(fields.map(({ name, ...rest }) => [name, Type.Optional(Type.String(rest))])),
      ...bundle,
      artifactSet: Type.Optional(
        Type.String({
          maxLength: 128,
          description: "id of the artifact set that the proofs were made with, from /circuits",
        }),
      ),
    },
    { description: "A payment proof bundle. Unknown fields are ignored." },
  );

export const SettleBody = Type.Object({
  proof: Proof,
  publicSignals: PaymentSignals,
  encryptedAmount: EncryptedAmount,
  paymentToken: Type.String({ minLength: 1, maxLength: MAX_TOKEN_LENGTH, description: "from /verify" }),
  recipientPublicKey: Address,
  resource: Type.Optional(Url("URL of the resource that is paid for; checked if present")),
  amountProof: Type.Optional(bundle.amountProof),
  amountPublicSignals: Type.Optional(bundle.amountPublicSignals),
  senderCommitment: Type.Optional(bundle.senderCommitment),
  resourceUrl: Type.Optional(bundle.resourceUrl),
  timestamp: Type.Optional(bundle.timestamp),
});
export type SettleRequest = Static<typeof SettleBody>;

export const VerifyResponse = Type.Object({
  valid: Type.Boolean(),
  paymentToken: Type.String({ description: "a JWS; empty if valid is false" }),
  expiresIn: Type.Integer({ description: "seconds; 0 if valid is false" }),
  privacy: Type.Object({
    amountEncrypted: Type.Boolean(),
    senderHidden: Type.Boolean(),
    proofSystem: Type.Literal("groth16"),
  }),
  reason: Type.Optional(Type.String({ description: "why valid is false; a stable code" })),
  message: Type.Optional(Type.String({ description: "why valid is false, as a sentence" })),
});

export const SettleResponse = Type.Object({
  status: Status,
  txSignature: Type.String({ description: "transaction hash; while pending that of the last broadcast; 0x if failed" }),
  blockNumber: Type.Integer({ description: "block of the transaction; 0 unless status is success" }),
  gasFeePaidBy: Type.String({
    description: "address that paid the gas: the relayer, or another sender that was faster",
  }),
  privacy: Type.Object({
    amountVisibleOnChain: Type.Boolean(),
    senderAddressHidden: Type.Boolean(),
    observerCannotLinkTransactions: Type.Boolean(),
  }),
  id: Type.String({ description: "the payment's id, for GET /settle/<id>" }),
  statusUrl: Type.Optional(Type.String({ description: "URL to poll for the outcome; present while pending" })),
  reason: Type.Optional(Type.String({ description: "why status is failed; a stable code" })),
});
