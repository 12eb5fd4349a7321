// A program as users write it: it creates a wallet, opens it, charges for a page, and requests that page.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { signBinding, wrapFetch } from "@sotto/client";
import { sotto } from "@sotto/resource-server/express";
import { createSeedWords, seedFromWords, shieldedAddressOf } from "@sotto/wallet";
import { openWallet, type WalletDeployment } from "@sotto/wallet/node";
import { Wallet as Account } from "ethers";

const [node = "", manifest = ""] = process.argv.slice(2);
const deployment = JSON.parse(manifest) as WalletDeployment & { readonly chainId: number; readonly pool: string };

const words = createSeedWords();
const wallet = await openWallet({ deployment, words, nodes: node, folder: "wallet" });
await wallet.scan();
const address = shieldedAddressOf(seedFromWords(words), { chainId: BigInt(deployment.chainId), pool: deployment.pool });
console.log(`${words.split(" ").length} words, the wallet's address: ${address === wallet.shieldedAddress}`);
console.log(`balance ${wallet.balance().total}`);

const server = createServer((request, response) =>
  paywall(request, response, (error) => void response.end(error === undefined ? "paid" : "failed")),
);
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const { binding, signature } = await signBinding(wallet, Account.createRandom());
// No service listens there, because a 402 response needs only the chain.
const service = "http://127.0.0.1:1";
const paywall = sotto({
  origin,
  price: "0.01",
  recipient: {
    wallet: binding.wallet,
    shieldedAddress: wallet.shieldedAddress,
    signature,
    issuedAt: binding.issuedAt,
  },
  service,
  chain: { rpcUrls: [node], chainId: deployment.chainId, pool: deployment.pool },
  store: "sqlite:payments.sqlite",
  onEvent: () => {},
});

/** The paywall answers 503 until it has read the pool. */
async function ask(): Promise<Response> {
  const response = await fetch(`${origin}/report`);
  if (response.status !== 503) return response;
  await new Promise((resolve) => setTimeout(resolve, 100));
  return ask();
}
console.log(`status ${(await ask()).status}`);

const pay = wrapFetch(fetch, wallet, { services: [service], maxPerRequest: 50_000n });
const refusal = await pay(`${origin}/report`).catch((error: unknown) => error);
console.log(`an empty wallet: ${refusal instanceof Error && "code" in refusal ? refusal.code : refusal}`);

server.closeAllConnections();
server.close();
await paywall.close();
await wallet.close();
