import { deriveKeys } from "@sotto/protocol";
import { encodeCharge, type MppChallenge, type MppCharge } from "../../../src/index.ts";

const deployment = { chainId: 31337n, pool: `0x${"11".repeat(20)}` } as const;

/** Terms of a payment. Nobody signed them. */
export const charge = (): MppCharge => ({
  amount: 10_000n,
  asset: `0x${"33".repeat(20)}`,
  decimals: 6,
  binding: {
    ...deployment,
    phone: "",
    wallet: `0x${"22".repeat(20)}`,
    key: deriveKeys(new Uint8Array(32).fill(7), deployment).shieldedAddress(),
    service: "",
    issuedAt: 1_700_000_100,
  },
  signature: `0x${"44".repeat(65)}`,
  service: "https://pay.example/zk",
  resource: "https://data.example/reports/7?page=2",
});

export const challenge = (): MppChallenge => ({
  id: "x7Tg2pLqR9mKvNwY3hBcZa",
  realm: "data.example",
  method: "sotto",
  intent: "charge",
  request: encodeCharge(charge()),
});

/** The JSON of a challenge's request. */
export const requestOf = ({ request }: MppChallenge): string => Buffer.from(request, "base64url").toString();
