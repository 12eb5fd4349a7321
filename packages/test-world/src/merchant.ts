// A merchant: what its paywall needs, and what it received by its viewing keys.

import { createAddresses, serverKeys } from "@sotto/local/merchant/addresses";
import type { TypedDataSigner } from "@sotto/local/merchant/prepaid-keys";
import type { ViewingKeys } from "@sotto/protocol";
import type { MonthRecipient, PaywallChain } from "@sotto/resource-server";
import { MemoryStore, ViewingWallet } from "@sotto/wallet";
import { Wallet as Account } from "ethers";
import { openWallet, type WorldPlace } from "./wallets.ts";

export interface Merchant {
  /** Its Ethereum account. */
  readonly account: TypedDataSigner;
  /** Options of its paywall. */
  readonly paywall: { readonly recipient: MonthRecipient; readonly service: string; readonly chain: PaywallChain };
  /** The viewing keys of this month and the one before. */
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
  const addresses = await createAddresses(owner, account);
  const keys = serverKeys(owner);
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
      recipient: { addresses },
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
