// A wallet with notes that pays the guides' servers.

import { type PayingFetch, wrapFetch } from "@sotto/client";
import { buildFolder } from "@sotto/keys/circuits/paths";
import { parseDeployment } from "@sotto/protocol";
import { createSeedWords, MemoryStore } from "@sotto/wallet";
import { openWallet } from "@sotto/wallet/node";
import { Wallet as Account } from "ethers";
import type { World } from "./world.ts";

export interface Payer {
  readonly pay: PayingFetch;
  close(): Promise<void>;
}

/** @param payments number of concurrent payments that the wallet can make, each of at most 0.1 USDC */
export async function openPayer({ environment }: World, payments: number): Promise<Payer> {
  const { SOTTO_SERVICE: service = "", SOTTO_NODE: nodes = "", SOTTO_FAUCET: faucet = "" } = environment;
  const deployment = parseDeployment(await (await fetch(`${service}/deployment`)).json());
  const account = Account.createRandom();
  await fetch(faucet, { method: "POST", body: JSON.stringify({ address: account.address }) });
  const options = { deployment, words: createSeedWords(), nodes, service, store: new MemoryStore() };
  const wallet = await openWallet({ ...options, artifacts: { folder: buildFolder } });
  await wallet.fund({ amounts: Array<bigint>(payments).fill(100_000n), account });
  const pay = wrapFetch(fetch, wallet, { services: [service], maxPerRequest: 100_000n });
  return { pay, close: () => wallet.close() };
}
