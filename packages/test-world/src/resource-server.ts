// A resource server as merchants run it: the paywall in Express, without the merchant's wallet on the same machine.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { PageOptions, PaymentAttachment } from "@sotto/resource-server";
import { sotto } from "@sotto/resource-server/express";
import express from "express";
import { type Merchant, openMerchant } from "./merchant.ts";
import type { World } from "./wallets.ts";

export interface ResourceServer {
  readonly url: string;
  /** Request targets that were paid for and served. */
  readonly sold: string[];
  /** Names of the paywall's events, in order. */
  readonly events: string[];
  /** Number of upcoming requests that the handler fails with 500. */
  failing: number;
  /** Total of the payments that it received on chain, base units. */
  received(): Promise<bigint>;
  /** The merchant's viewing key. */
  readonly keys: Merchant["keys"];
  close(): Promise<void>;
}

/**
 * Pages of any origin may pay the server.
 * @param price in tokens, for example "0.01" @param page response to a browser's navigation; default: JSON
 * @param attachments what it asks to be shown beside payments
 */
export async function openResourceServer(
  world: World,
  price: string,
  page: boolean | PageOptions = false,
  attachments: readonly PaymentAttachment[] = [],
): Promise<ResourceServer> {
  const merchant = await openMerchant(world);
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const events: string[] = [];
  const paywall = sotto({
    origin: url,
    price,
    ...merchant.paywall,
    store: "sqlite::memory:",
    page,
    attachments,
    onEvent: ({ event }) => void events.push(event),
    cors: { origins: "*" },
  });
  await paywall.ready;
  const resourceServer: ResourceServer = {
    url,
    sold: [],
    events,
    failing: 0,
    keys: merchant.keys,
    received: merchant.received,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await paywall.close();
    },
  };
  app.use(paywall);
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
