import { CIRCUITS } from "@sotto/protocol";
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
    v: Type.Integer({ minimum: 0, maximum: 255 }),
    r: Type.String({ minLength: 66, maxLength: 66 }),
    s: Type.String({ minLength: 66, maxLength: 66 }),
  },
  { description: "An EIP-3009 authorization whose nonce commits to the notes." },
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
