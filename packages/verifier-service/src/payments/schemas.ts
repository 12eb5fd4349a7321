import { type Static, Type } from "@fastify/type-provider-typebox";
import { MAX_URL_LENGTH } from "@sotto/protocol";

/** Longest canonical decimal of 256 bits. Values are read exactly later; here only sizes and types are limited. */
const DECIMAL_DIGITS = 78;
const LONGEST_TOKEN = 8192;

const Decimal = Type.String({ minLength: 1, maxLength: DECIMAL_DIGITS });
const words = (count: number, description: string) =>
  Type.Array(Decimal, { minItems: count, maxItems: count, description });
const Address = Type.String({ minLength: 42, maxLength: 42, description: "wallet address, 0x and 40 hex digits" });
const Url = (description: string) => Type.String({ minLength: 1, maxLength: MAX_URL_LENGTH, description });
const Proof = words(8, "Groth16 proof: a.x a.y b.x0 b.x1 b.y0 b.y1 c.x c.y, decimal");
const PaymentSignals = words(10, "public signals of the payment circuit, decimal, in order");
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
  amountPublicSignals: words(6, "its public signals, decimal, in order"),
  senderCommitment: Decimal,
  recipientPublicKey: Address,
  resourceUrl: Url("the resource being paid for"),
  timestamp: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: "creation time, Unix ms" }),
};

export const VerifyBody = Type.Object(
  {
    ...bundle,
    artifactSet: Type.Optional(
      Type.String({ maxLength: 128, description: "id of the set of keys the proofs are made with, from /circuits" }),
    ),
  },
  { description: "A payment proof bundle. Fields it does not name are ignored." },
);

export const PreferHeader = Type.Object({
  prefer: Type.Optional(
    Type.String({ description: "respond-async, wait=SECONDS: answer pending after that time (RFC 7240)" }),
  ),
});

export const SettleBody = Type.Object({
  proof: Proof,
  publicSignals: PaymentSignals,
  encryptedAmount: EncryptedAmount,
  paymentToken: Type.String({ minLength: 1, maxLength: LONGEST_TOKEN, description: "from verify" }),
  recipientPublicKey: Address,
  resource: Type.Optional(Url("the resource being paid for; checked where present")),
  amountProof: Type.Optional(bundle.amountProof),
  amountPublicSignals: Type.Optional(bundle.amountPublicSignals),
  senderCommitment: Type.Optional(bundle.senderCommitment),
  resourceUrl: Type.Optional(bundle.resourceUrl),
  timestamp: Type.Optional(bundle.timestamp),
});
export type SettleRequest = Static<typeof SettleBody>;

export const VerifyAnswer = Type.Object({
  valid: Type.Boolean(),
  paymentToken: Type.String({ description: "JWS, three parts; empty where valid is false" }),
  expiresIn: Type.Integer({ description: "seconds; 0 where valid is false" }),
  privacy: Type.Object({
    amountEncrypted: Type.Boolean(),
    senderHidden: Type.Boolean(),
    proofSystem: Type.Literal("groth16"),
  }),
  reason: Type.Optional(Type.String({ description: "why valid is false, for programs" })),
  message: Type.Optional(Type.String({ description: "why valid is false, for people" })),
});

const Status = Type.Unsafe<"success" | "pending" | "failed">({
  type: "string",
  enum: ["success", "pending", "failed"],
});

export const SettleAnswer = Type.Object({
  status: Status,
  txSignature: Type.String({ description: "transaction hash; pending: of what was broadcast last; failed: 0x" }),
  blockNumber: Type.Integer({ description: "block of the transaction, 0 unless status is success" }),
  gasFeePaidBy: Type.String({ description: "address of the relayer, or of who sent it before the relayer" }),
  privacy: Type.Object({
    amountVisibleOnChain: Type.Boolean(),
    senderAddressHidden: Type.Boolean(),
    observerCannotLinkTransactions: Type.Boolean(),
  }),
  id: Type.String({ description: "the payment's id: ask again at settle/<id>" }),
  statusUrl: Type.Optional(Type.String({ description: "where to ask again, while pending" })),
  reason: Type.Optional(Type.String({ description: "why status is failed, for programs" })),
});

export const RelayAnswer = Type.Object({
  status: Status,
  txSignature: Type.String(),
  blockNumber: Type.Integer(),
  gasFeePaidBy: Type.String(),
  id: Type.String(),
  statusUrl: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String()),
});

const Seconds = Type.String({ minLength: 1, maxLength: 20, description: "Unix seconds, decimal" });

export const DepositBody = Type.Object(
  {
    chainId: Decimal,
    pool: Address,
    from: Address,
    ownerTags: Type.Array(Decimal, { minItems: 1, maxItems: 64 }),
    amounts: Type.Array(Decimal, { minItems: 1, maxItems: 64, description: "token base units, decimal, one a tag" }),
    salt: Type.String({ minLength: 66, maxLength: 66 }),
    validAfter: Seconds,
    validBefore: Seconds,
    v: Type.Integer({ minimum: 0, maximum: 255 }),
    r: Type.String({ minLength: 66, maxLength: 66 }),
    s: Type.String({ minLength: 66, maxLength: 66 }),
  },
  { description: "An EIP-3009 authorization whose nonce commits to the notes." },
);
export type DepositRequest = Static<typeof DepositBody>;

export const WithdrawBody = Type.Object({
  proof: Proof,
  signals: words(13, "public signals of the withdrawal circuit, decimal, in order"),
  recipient: Address,
  fee: Decimal,
  feeRecipient: Address,
  validUntil: Seconds,
});
export type WithdrawRequest = Static<typeof WithdrawBody>;
