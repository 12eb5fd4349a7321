import { type Static, Type } from "typebox";

const Text = (maxLength: number, description: string) => Type.String({ maxLength, description });

const Requirements = Type.Object(
  {
    scheme: Text(64, "sotto"),
    network: Text(64, "CAIP-2: eip155:CHAIN"),
    asset: Text(42, "address of the pool's token"),
    amount: Text(20, "price, base units"),
    payTo: Text(42, "wallet of the recipient"),
    maxTimeoutSeconds: Type.Integer({ minimum: 1, description: "maximum age of the payment" }),
    extra: Type.Object({}, { additionalProperties: true, description: "fields of the scheme" }),
  },
  { description: "Payment requirements of x402" },
);

/** The body of x402's /verify and /settle. The scheme parses its contents. */
export const X402Body = Type.Object(
  {
    x402Version: Type.Integer({ description: "2" }),
    paymentPayload: Type.Object(
      {
        x402Version: Type.Integer({ description: "2" }),
        accepted: Requirements,
        payload: Type.Object({}, { additionalProperties: true, description: "the payment proof bundle" }),
      },
      { additionalProperties: true, description: "Payment payload of x402" },
    ),
    paymentRequirements: Requirements,
  },
  { description: "An x402 request, recognized by x402Version" },
);
export type X402Request = Static<typeof X402Body>;

const extra = Type.Optional(Type.Object({}, { additionalProperties: true }));

export const X402VerifyResponse = Type.Object({
  isValid: Type.Boolean(),
  invalidReason: Type.Optional(Type.String()),
  invalidMessage: Type.Optional(Type.String()),
});
export type X402Verified = Static<typeof X402VerifyResponse>;

export const X402SettleResponse = Type.Object({
  success: Type.Boolean(),
  errorReason: Type.Optional(Type.String()),
  errorMessage: Type.Optional(Type.String()),
  transaction: Type.String({ description: "transaction hash; empty if there is none" }),
  network: Type.String(),
  extra,
});
export type X402Settled = Static<typeof X402SettleResponse>;

export const SupportedResponse = Type.Object({
  kinds: Type.Array(Type.Object({ x402Version: Type.Integer(), scheme: Type.String(), network: Type.String(), extra })),
  extensions: Type.Array(Type.String()),
  signers: Type.Record(Type.String(), Type.Array(Type.String())),
});
