// A merchant with metered routes: the real paywall on Node's HTTP server, which charges for each word.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createMeteredTerms } from "@sotto/local/merchant/metered-terms";
import { createPrepaidKeys } from "@sotto/local/merchant/prepaid-keys";
import { type MeteredRule, meteredValues } from "@sotto/prepaid";
import { metered, meteredCredit, prepaid } from "@sotto/prepaid/server";
import type { PaywallEvent } from "@sotto/resource-server";
import { sotto } from "@sotto/resource-server/express";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import express from "express";
import { openMerchant } from "./merchant.ts";
import type { WorldPlace } from "./wallets.ts";

/** 0.001 for each word, at most 0.01. */
export const WORDS: MeteredRule = {
  base: 0n,
  units: [{ name: "words", price: 1_000n, per: 1 }],
  cap: 10_000n,
  grain: 1_000n,
};

/** A running server. */
export interface MeteredServer {
  readonly url: string;
  readonly events: readonly PaywallEvent[];
  /** Total of the payments that the merchant received on chain, base units. */
  received(): Promise<bigint>;
  close(): Promise<void>;
}

/**
 * Opens a server whose `/words/N` writes N words, with `?stream` one after the other, and with `?fail` answers 500. It charges by
 * {@link WORDS}.
 */
export async function openMeteredServer(world: WorldPlace): Promise<MeteredServer> {
  const { account, paywall: options, received } = await openMerchant(world);
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = temporaryFolder("metered");
  const place = { chainId: BigInt(world.chainId), pool: world.pool as `0x${string}`, origin };
  const files = await createPrepaidKeys(account, { ...place, values: meteredValues(WORDS) });
  const routes = [{ method: "GET", path: "/words/*", rule: WORDS }];
  const tokens = prepaid({
    ...files,
    store: `sqlite:${join(folder, "prepaid.sqlite")}`,
    guard: join(folder, "guard"),
  });
  const credit = meteredCredit({ prepaid: tokens, ...(await createMeteredTerms(account, { ...place, routes })) });
  const { cap, grain } = WORDS;
  const events: PaywallEvent[] = [];
  const paywall = sotto({
    ...options,
    origin,
    price: 1_000n,
    routes: [{ path: "/words/*", method: "GET", price: metered({ cap, grain, units: { words: { price: 1_000n } } }) }],
    store: `sqlite:${join(folder, "payments.sqlite")}`,
    methods: [tokens, credit],
    onEvent: (event) => events.push(event),
  });
  await paywall.ready;
  app.use(paywall);
  app.get("/words/:count", async (request, response) => {
    const streams = request.query["stream"] !== undefined;
    for (let word = 1; word <= Number(request.params.count); word += 1) {
      if (request.payment?.meter?.add({ words: 1 }) === false) break;
      if (streams) {
        response.write(`word ${word}\n`);
        await sleep(5);
        // The client has left.
        if (response.destroyed) return;
      }
    }
    if (request.query["fail"] !== undefined) response.status(500);
    response.end("end");
  });
  return {
    url: origin,
    events,
    received,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await paywall.close();
    },
  };
}
