// 402 responses of hosts for a service on a local chain.
import { BASE8, encodeShieldedAddress } from "@sotto/protocol";
import { createX402Listing } from "@sotto/protocol/x402";
import type { ServedDeployment } from "../../../src/x402/request.ts";

export const POOL = `0x${"22".repeat(20)}` as const;
export const TOKEN = `0x${"33".repeat(20)}` as const;
export const WALLET = `0x${"44".repeat(20)}`;
const SERVICE = "https://pay.example/zk";

export const SERVED: ServedDeployment = {
  config: { chainId: 31337, pool: POOL, publicUrl: SERVICE },
  facts: { token: TOKEN, decimals: 6 },
};

export const LISTING = createX402Listing({ method: "GET", description: "The weather", tags: ["weather"] });

/** Requirements as a resource server states them. */
export const accepts = (resource: string, changes: Record<string, unknown> = {}) => ({
  scheme: "sotto",
  network: "eip155:31337",
  asset: TOKEN,
  amount: "1000000",
  payTo: WALLET,
  maxTimeoutSeconds: 300,
  extra: {
    ...{ pool: POOL, decimals: 6, resource, service: SERVICE, challenge: "zk_req_1_a" },
    recipient: {
      shieldedAddress: encodeShieldedAddress({ encryptionKey: BASE8, ownerTag: 7n }),
      signature: `0x${"11".repeat(65)}`,
      issuedAt: 1_795_243_800,
    },
  },
  ...changes,
});

/** The decoded PAYMENT-REQUIRED of a listed resource. */
export function required(url: string, changes: Record<string, unknown> = {}): Record<string, unknown> {
  const { extensions, ...texts } = LISTING;
  return { x402Version: 2, resource: { url, ...texts }, accepts: [accepts(url)], extensions, ...changes };
}

export const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64");

/** Info and schema of a listing that takes more than 60^9 steps if references are followed. */
export function recursiveListing(): [info: object, schema: object] {
  let example = {};
  for (let level = 0; level < 9; level += 1) example = { a: example };
  const branches = Array.from({ length: 60 }, () => ({ $recursiveRef: "#" }));
  const info = { input: { type: "http", method: "GET" }, output: { type: "json", example } };
  return [info, { additionalProperties: { allOf: branches } }];
}
