// A server as merchants run it: the resource server behind Express, its owner's wallet elsewhere.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { MemoryStore, ViewingWallet } from "@sotto/client";
import { sotto } from "@sotto/resource-server/express";
import { Wallet as Account } from "ethers";
import express, { type RequestHandler } from "express";
import { bindingOf } from "./small-server.ts";
import { openWallet, type World } from "./wallets.ts";

export interface ResourceServer {
  readonly url: string;
  /** Request targets whose handler ran and sold. */
  readonly sold: string[];
  /** How many requests the handler fails from now on, with 500. */
  failing: number;
  /** Base units it was paid on chain, in all. */
  received(): Promise<bigint>;
  close(): Promise<void>;
}

/** Lets pages of any origin ask: the proof's header is one that browsers ask about first. */
const cors: RequestHandler = (request, response, next) => {
  response.setHeader("access-control-allow-origin", "*");
  if (request.method !== "OPTIONS") return next();
  response.setHeader("access-control-allow-headers", "X-Payment-Proof");
  response.status(204).end();
};

/** @param price in whole tokens */
export async function openResourceServer(world: World, price: string): Promise<ResourceServer> {
  const { chainId, pool, node, serviceUrl, deploymentBlock } = world;
  const owner = await openWallet(world);
  const { binding, signature } = await bindingOf(world, owner, Account.createRandom());
  const viewing = await ViewingWallet.open({
    ...owner.exportViewingKey(),
    chain: node.url,
    chainId: BigInt(chainId),
    pool,
    deploymentBlock,
    store: new MemoryStore(),
    finality: 0,
  });
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const paywall = sotto({
    origin: url,
    price,
    recipient: { wallet: binding.wallet, shieldedAddress: binding.key, signature, issuedAt: binding.issuedAt },
    service: serviceUrl,
    chain: { rpcUrls: [node.url], chainId, pool },
    store: "sqlite::memory:",
  });
  await paywall.ready;
  const resourceServer: ResourceServer = {
    url,
    sold: [],
    failing: 0,
    async received() {
      await viewing.scan();
      return viewing.total();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await paywall.close();
    },
  };
  app.use(cors, paywall);
  app.get("/health", (_, response) => void response.send("free"));
  app.use((request, response) => {
    if (resourceServer.failing > 0) {
      resourceServer.failing -= 1;
      return void response.status(500).send("broken");
    }
    resourceServer.sold.push(request.originalUrl);
    response.type("text").send(`sold ${request.originalUrl}`);
  });
  return resourceServer;
}
