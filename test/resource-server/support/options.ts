import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { createPaywall, type Paywall, type PaywallOptions } from "@sotto/resource-server";
import { type MerchantWorld, ORIGIN } from "./world.ts";

/** What the shops of these tests are told; everything can be told otherwise. Each has a store of its own. */
export function paywallOptions(world: MerchantWorld, changes: Partial<PaywallOptions> = {}): PaywallOptions {
  const { wallet, shieldedAddress, signature, issuedAt } = world.merchant;
  return {
    origin: ORIGIN,
    price: "0.01",
    recipient: { wallet, shieldedAddress, signature, issuedAt },
    service: world.service,
    // The service says that a payment is settled when this node knows it: there is nothing to wait for.
    chain: { rpcUrls: [world.node.url], chainId: world.chainId, pool: world.pool, settleWaitMs: 0 },
    // On disk: one in memory refuses what was paid before it was opened.
    store: `sqlite:${join(world.folder, `${randomUUID()}.sqlite`)}`,
    ...changes,
  };
}

export const openPaywall = (world: MerchantWorld, changes: Partial<PaywallOptions> = {}): Promise<Paywall> =>
  createPaywall(paywallOptions(world, changes));
