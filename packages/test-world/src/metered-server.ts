// A merchant with metered routes: the real paywall on Node's HTTP server, which charges for each word.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createMeteredTerms, type MeteredFiles } from "@sotto/local/merchant/metered-terms";
import { createPrepaidKeys, type PrepaidFiles, type TypedDataSigner } from "@sotto/local/merchant/prepaid-keys";
import { type MeteredRule, type MeteredTerms, meteredValues } from "@sotto/prepaid";
import { meteredBy, meteredCredit, type PrepaidMethod, prepaid } from "@sotto/prepaid/server";
import type { PaymentMethod, PaywallEvent, PaywallOptions } from "@sotto/resource-server";
import { sotto } from "@sotto/resource-server/express";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import express from "express";
import { type Merchant, openMerchant } from "./merchant.ts";
import { type LoggedRequest, logRequest, tablesIn } from "./seen.ts";
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
  readonly requests: readonly LoggedRequest[];
  /** All rows of all tables. */
  tables(): Record<string, Record<string, unknown>[]>;
  /** Total of the payments that the merchant received on chain, base units. */
  received(): Promise<bigint>;
  close(): Promise<void>;
}

/** The payment methods of a merchant with these routes, whose tokens have every value that the rules need. */
export async function createCredit(
  account: TypedDataSigner,
  place: Pick<MeteredTerms, "chainId" | "pool" | "origin">,
  routes: MeteredTerms["routes"],
): Promise<[PrepaidMethod, PaymentMethod]> {
  const folder = temporaryFolder("metered");
  const values = [...new Set(routes.flatMap(({ rule }) => meteredValues(rule)))].sort((a, b) => Number(a - b));
  const { keys, schedules } = await createPrepaidKeys(account, { ...place, values });
  const store = `sqlite:${join(folder, "prepaid.sqlite")}`;
  const tokens = prepaid({ keys, schedules, store, guard: join(folder, "guard") });
  const terms = await createMeteredTerms(account, { ...place, routes });
  return [tokens, meteredCredit({ prepaid: tokens, ...terms })];
}

/** The merchant of these servers. Its keys and terms are the same for all servers of one origin. */
export interface MeteredMerchant extends Pick<Merchant, "paywall" | "received"> {
  filesOf(origin: string): Promise<PrepaidFiles & MeteredFiles>;
}

/** @param owner default: a new merchant @param months of the keys and terms; default: this month and the next */
export async function openMeteredMerchant(
  world: WorldPlace,
  owner?: Pick<Merchant, "account" | "paywall" | "received">,
  months: { readonly epochs?: number; readonly firstEpoch?: string } = {},
): Promise<MeteredMerchant> {
  const { account, paywall, received } = owner ?? (await openMerchant(world));
  const routes = [{ method: "GET", path: "/words/*", rule: WORDS }];
  const { epochs, firstEpoch } = months;
  const files = new Map<string, Promise<PrepaidFiles & MeteredFiles>>();
  const create = async (origin: string) => {
    const place = { chainId: BigInt(world.chainId), pool: world.pool as `0x${string}`, origin };
    return {
      ...(await createPrepaidKeys(account, { ...place, values: meteredValues(WORDS) }, epochs, firstEpoch)),
      ...(await createMeteredTerms(account, { ...place, routes }, epochs, firstEpoch)),
    };
  };
  const filesOf = (origin: string) => {
    const made = files.get(origin) ?? create(origin);
    files.set(origin, made);
    return made;
  };
  return { paywall, received, filesOf };
}

/**
 * Opens a server whose `/words/N` counts N words by {@link WORDS}. With `?stream` it sends each as it is counted, with
 * `?stream&leave=K` it waits after K words until the client leaves, and with `?fail` it answers 500.
 * @param merchant default: a new one @param port 0 for a free one @param clock default: the machine's
 * @param cors which pages may pay the server; default: none
 */
export async function openMeteredServer(
  world: WorldPlace,
  merchant?: MeteredMerchant,
  { port = 0, clock, cors }: Pick<PaywallOptions, "clock" | "cors"> & { readonly port?: number } = {},
): Promise<MeteredServer> {
  const { paywall: options, received, filesOf } = merchant ?? (await openMeteredMerchant(world));
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = temporaryFolder("metered");
  const { keys, schedules, terms, receiptKeys } = await filesOf(origin);
  const store = `sqlite:${join(folder, "prepaid.sqlite")}`;
  const tokens = prepaid({ keys, schedules, store, guard: join(folder, "guard") });
  const credit = meteredCredit({ prepaid: tokens, terms, receiptKeys });
  const events: PaywallEvent[] = [];
  const paywall = sotto({
    ...options,
    origin,
    price: meteredBy(WORDS),
    store: `sqlite:${join(folder, "payments.sqlite")}`,
    methods: [tokens, credit],
    onEvent: (event) => events.push(event),
    ...(clock && { clock }),
    ...(cors && { cors }),
  });
  await paywall.ready;
  const requests: LoggedRequest[] = [];
  app.use((request, response, next) => {
    requests.push(logRequest(request, response));
    next();
  });
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
    events,
    requests,
    tables: () => tablesIn(folder, ["payments", "prepaid"]),
    received,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await paywall.close();
    },
  };
}
