// A merchant with metered routes: the real paywall on Node's HTTP server, which charges for each word.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createMeteredTerms } from "@sotto/local/merchant/metered-terms";
import { createPrepaidKeys } from "@sotto/local/merchant/prepaid-keys";
import { type MeteredRule, meteredValues } from "@sotto/prepaid";
import { metered, meteredCredit, prepaid } from "@sotto/prepaid/server";
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
  /** Total of the payments that the merchant received on chain, base units. */
  received(): Promise<bigint>;
  close(): Promise<void>;
}

/**
 * Opens a server whose `/words/N` counts N words by {@link WORDS}. With `?stream` it sends each as it is counted, with
 * `?stream&leave=K` it waits after K words until the client leaves, and with `?fail` it answers 500.
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
  const { cap, grain, units } = WORDS;
  const words = units.map(({ name, price }) => [name, { price }]);
  const paywall = sotto({
    ...options,
    origin,
    price: metered({ cap, grain, units: Object.fromEntries(words) }),
    store: `sqlite:${join(folder, "payments.sqlite")}`,
    methods: [tokens, credit],
  });
  await paywall.ready;
  app.use(paywall);
  app.get("/words/:count", async (request, response) => {
    const { stream, leave } = request.query;
    for (let word = 1; word <= Number(request.params.count); word += 1) {
      if (request.payment?.meter?.add({ words: 1 }) === false) break;
      if (stream !== undefined) response.write(`word ${word}\n`);
      if (word === Number(leave)) {
        await once(response, "close");
        return;
      }
    }
    if (request.query["fail"] !== undefined) response.status(500);
    response.end("end");
  });
  return {
    url: origin,
    received,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await paywall.close();
    },
  };
}
