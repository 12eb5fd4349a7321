import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ChargeReceipt, type MeteredRule, type MeteredTerms, meteredRuleHash } from "../../../../src/index.ts";

/** Known answers, computed by another implementation. Hex with 0x. */
interface Vectors {
  readonly rule: { readonly json: string; readonly hash: string };
  readonly tokens: {
    readonly packSecret: string;
    readonly each: readonly {
      readonly index: number;
      readonly secret: string;
      readonly publicKey: string;
      readonly nonce: string;
    }[];
  };
  readonly claims: {
    readonly origin: string;
    readonly keyId: string;
    readonly tokenIndex: number;
    readonly tokenIdHash: string;
    readonly each: readonly { readonly batch: string | null; readonly message: string; readonly signature: string }[];
  };
  readonly receipt: {
    readonly secret: string;
    readonly receiptKey: string;
    readonly message: string;
    readonly text: string;
  };
}

export const VECTORS = JSON.parse(
  readFileSync(join(import.meta.dirname, "..", "..", "vectors", "metered.json"), "utf8"),
) as Vectors;

/** A language model: 0.15 and 0.60 USDC for a million tokens, 0.0001 for the request, at most 0.01. */
export const RULE: MeteredRule = {
  base: 100n,
  units: [
    { name: "input", price: 150_000n, per: 1_000_000 },
    { name: "output", price: 600_000n, per: 1_000_000 },
  ],
  cap: 10_000n,
  grain: 100n,
};

export const MERCHANT = {
  wallet: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
  chainId: 31337n,
  pool: "0x5fbdb2315678afecb367f032d93f642f64180aa3",
  origin: "https://data.example",
} as const;

export const RECEIPT: ChargeReceipt = {
  ...MERCHANT,
  epoch: "2026-12",
  token: VECTORS.claims.tokenIdHash,
  method: "POST",
  target: "/v1/chat?stream=1",
  rule: meteredRuleHash(RULE),
  units: { input: 1200n, output: 4500n },
  charge: 3000n,
  change: 7000n,
};

/** Public keys of the receipt secrets of two months. */
export const RECEIPT_SECRETS = [new Uint8Array(32).fill(9), new Uint8Array(32).fill(10)] as const;

export const termsOf = (receiptKeys: readonly string[], change: Partial<MeteredTerms> = {}): MeteredTerms => ({
  ...MERCHANT,
  firstEpoch: "2026-12",
  receiptKeys,
  routes: [
    { method: "POST", path: "/v1/chat", rule: RULE },
    { method: "GET", path: "/files/*", rule: { ...RULE, units: [{ name: "bytes", price: 90n, per: 1_000_000 }] } },
  ],
  ...change,
});
