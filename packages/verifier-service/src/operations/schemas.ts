import { MAX_URL_LENGTH } from "@sotto/protocol";
import { Type } from "typebox";

/** Digits of the largest 256-bit number. The schemas limit types and sizes only; the protocol package parses the values. */
const DECIMAL_DIGITS = 78;

export const Decimal = Type.String({ minLength: 1, maxLength: DECIMAL_DIGITS });
export const words = (count: number, description: string) =>
  Type.Array(Decimal, { minItems: count, maxItems: count, description });
export const Address = Type.String({
  minLength: 42,
  maxLength: 42,
  description: "wallet address, 0x and 40 hex digits",
});
export const Url = (description: string) => Type.String({ minLength: 1, maxLength: MAX_URL_LENGTH, description });
export const Proof = words(8, "Groth16 proof: a.x a.y b.x0 b.x1 b.y0 b.y1 c.x c.y, decimal");
export const Status = Type.Unsafe<"success" | "pending" | "failed">({
  type: "string",
  enum: ["success", "pending", "failed"],
});

export const RelayResponse = Type.Object({
  status: Status,
  txSignature: Type.String(),
  blockNumber: Type.Integer(),
  gasFeePaidBy: Type.String(),
  id: Type.String(),
  statusUrl: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String()),
});

export const PreferHeader = Type.Object({
  prefer: Type.Optional(
    Type.String({ description: "respond-async, wait=SECONDS: answer pending after this time (RFC 7240)" }),
  ),
});
