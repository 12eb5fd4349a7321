import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { createPaywall, type Paywall, type PaywallOptions } from "@sotto/resource-server";
import { type MerchantWorld, ORIGIN } from "./world.ts";

/** Options of a paywall in these tests, each with its own store; `changes` replaces any of them. */
export function paywallOptions(world: MerchantWorld, changes: Partial<PaywallOptions> = {}): PaywallOptions {
  return {
    origin: ORIGIN,
    price: "0.01",
    recipient: { addresses: world.merchant.addresses },
    service: world.service,
    // When the service reports a settlement, this node already knows the transaction, so there is no need to wait.
    chain: { rpcUrls: [world.node.url], chainId: world.chainId, pool: world.pool, settleWaitMs: 0 },
    // On disk, because a paywall with a store in memory rejects payments that are older than the store.
    store: `sqlite:${join(world.folder, `${randomUUID()}.sqlite`)}`,
    ...changes,
  };
}

export const openPaywall = (world: MerchantWorld, changes: Partial<PaywallOptions> = {}): Promise<Paywall> =>
  createPaywall(paywallOptions(world, changes));
