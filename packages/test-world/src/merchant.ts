// A merchant: what its paywall needs, and what it received by its viewing key.

import type { TypedDataSigner } from "@sotto/local/merchant/prepaid-keys";
import type { ViewingKeys } from "@sotto/protocol";
import type { PaywallChain, PaywallRecipient } from "@sotto/resource-server";
import { MemoryStore, ViewingWallet } from "@sotto/wallet";
import { Wallet as Account } from "ethers";
import { bindingOf } from "./small-server.ts";
import { openWallet, type WorldPlace } from "./wallets.ts";

export interface Merchant {
  /** Its Ethereum account. */
  readonly account: TypedDataSigner;
  /** Options of its paywall. */
  readonly paywall: { readonly recipient: PaywallRecipient; readonly service: string; readonly chain: PaywallChain };
  readonly keys: ViewingKeys;
  /** Total of the payments that it received on chain, base units. */
  received(): Promise<bigint>;
}

/** Creates a merchant whose shielded wallet is not on the server's machine. */
export async function openMerchant(
  world: WorldPlace,
  account: TypedDataSigner = Account.createRandom(),
): Promise<Merchant> {
  const { chainId, pool, node, serviceUrl, deploymentBlock } = world;
  const owner = await openWallet(world);
  const { binding, signature } = await bindingOf(world, owner, account);
  const keys = owner.viewingKeys({ lasting: true });
  const viewing = await ViewingWallet.open({
    keys,
    chain: node.url,
    chainId: BigInt(chainId),
    pool,
    deploymentBlock,
    store: new MemoryStore(),
    finality: 0,
  });
  return {
    account,
    paywall: {
      recipient: { wallet: binding.wallet, shieldedAddress: binding.key, signature, issuedAt: binding.issuedAt },
      service: serviceUrl,
      chain: { rpcUrls: [node.url], chainId, pool },
    },
    keys,
    async received() {
      await viewing.scan();
      return viewing.total();
    },
  };
}
