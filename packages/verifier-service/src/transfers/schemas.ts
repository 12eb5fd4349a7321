import { CIRCUITS, MAX_DEPOSIT_SIGNATURE_BYTES } from "@sotto/protocol";
import { type Static, Type } from "typebox";
import { Address, Decimal, Proof, words } from "../operations/schemas.ts";

const Seconds = Type.String({ minLength: 1, maxLength: 20, description: "Unix seconds, decimal" });

export const DepositBody = Type.Object(
  {
    chainId: Decimal,
    pool: Address,
    from: Address,
    ownerTags: Type.Array(Decimal, { minItems: 1, maxItems: 64 }),
    amounts: Type.Array(Decimal, {
      minItems: 1,
      maxItems: 64,
      description: "token base units, decimal, one for each owner tag",
    }),
    salt: Type.String({ minLength: 66, maxLength: 66 }),
    validAfter: Seconds,
    validBefore: Seconds,
    signature: Type.Optional(
      Type.String({
        minLength: 4,
        maxLength: 2 + 2 * MAX_DEPOSIT_SIGNATURE_BYTES,
        pattern: "^0x(?:[0-9a-fA-F]{2})+$",
        description: "r, s and v, 65 bytes; or the signature of a contract account (EIP-1271), in its own format",
      }),
    ),
    v: Type.Optional(Type.Integer({ minimum: 0, maximum: 255, description: "v, r and s in place of signature" })),
    r: Type.Optional(Type.String({ minLength: 66, maxLength: 66 })),
    s: Type.Optional(Type.String({ minLength: 66, maxLength: 66 })),
    permit2: Type.Optional(
      Type.Object(
        {
          permit: Type.Optional(
            Type.String({
              minLength: 132,
              maxLength: 132,
              pattern: "^0x[0-9a-fA-F]{130}$",
              description:
                "r, s and v of an EIP-2612 permit of `from` for Permit2, with the sum of the amounts and the same deadline",
            }),
          ),
        },
        {
          description:
            "for tokens without EIP-3009: the signature is for Permit2, validAfter is 0, and the deadline is the second before validBefore",
        },
      ),
    ),
  },
  {
    description:
      "An EIP-3009 or Permit2 authorization whose nonce commits to the notes, with either signature, or v, r and s.",
  },
);
export type DepositRequest = Static<typeof DepositBody>;

export const WithdrawBody = Type.Object({
  proof: Proof,
  signals: words(CIRCUITS.withdrawal.signalCount, "signals of the withdrawal, decimal, in order"),
  recipient: Address,
  fee: Decimal,
  feeRecipient: Address,
  validUntil: Seconds,
});
export type WithdrawRequest = Static<typeof WithdrawBody>;
