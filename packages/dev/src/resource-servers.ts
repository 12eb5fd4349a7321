// The two resource servers of `npm run dev`, as a child process: a news server on Express and a weather server on Hono.
// They belong to one merchant, whose words are stored in the state folder.
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import { createAddresses, lastMonths, ownerOf, serverKeys } from "@sotto/local/merchant/addresses";
import { keptPrepaidKeys } from "@sotto/local/merchant/prepaid-keys";
import { type PrepaidOptions, prepaid } from "@sotto/prepaid/server";
import {
  type DeploymentManifest,
  deriveKeys,
  formatViewingKeys,
  parseAddress,
  parseDecimalAmount,
} from "@sotto/protocol";
import type { PaywallOptions } from "@sotto/resource-server";
import { sotto as expressPaywall } from "@sotto/resource-server/express";
import { sotto as honoPaywall } from "@sotto/resource-server/hono";
import { createSeedWords, seedFromWords } from "@sotto/wallet";
import { Wallet as Account } from "ethers";
import express from "express";
import { Hono } from "hono";

const HOST = "127.0.0.1";

export interface ServersOrder {
  readonly deployment: DeploymentManifest;
  /** JSON-RPC URL. */
  readonly chain: string;
  /** Base URL of the service. */
  readonly service: string;
  /** URL of the web app. */
  readonly wallet: string;
  /** The state folder. */
  readonly folder: string;
  readonly newsPort: number;
  readonly weatherPort: number;
}

export interface Merchant {
  readonly name: string;
  /** A resource to pay for. */
  readonly url: string;
  /** In whole tokens. */
  readonly price: string;
  /** The merchant's wallet. */
  readonly recipient: string;
}

type SharedOptions = Omit<PaywallOptions, "origin" | "price">;

const NEWS_PRICE = "0.05";
const WEATHER_PRICE = "0.02";
const DECIMALS = 6;
/** How many months before this one the merchant page shows. */
const SHOWN_MONTHS = 24;

async function openNews(shared: SharedOptions, port: number): Promise<string> {
  const origin = `http://${HOST}:${port}`;
  const app = express();
  const paywall = expressPaywall({ ...shared, origin, price: NEWS_PRICE });
  app.use("/.well-known/sotto", paywall);
  app.options("/articles/:number", paywall);
  app.get("/", (_, response) => void response.type("text").send(`GET /articles/1: ${NEWS_PRICE} USDC\n`));
  app.get("/articles/:number", paywall, ({ params, payment }, response) => {
    response.type("text").send(`Article ${params["number"]}. You paid for ${payment?.resource}.\n`);
  });
  await paywall.ready;
  await once(app.listen(port, HOST), "listening");
  return `${origin}/articles/1`;
}

/** The weather server also sells prepaid tokens that are each worth its price. */
async function openWeather(
  shared: SharedOptions,
  port: number,
  prepaidOf: (origin: string, value: bigint) => Promise<PrepaidOptions>,
): Promise<string> {
  const origin = `http://${HOST}:${port}`;
  const app = new Hono();
  const tokens = prepaid(await prepaidOf(origin, parseDecimalAmount(WEATHER_PRICE, DECIMALS)));
  const paywall = honoPaywall({ ...shared, origin, price: WEATHER_PRICE, methods: [tokens] });
  app.use("/.well-known/*", paywall);
  app.options("/forecast/:city", paywall);
  app.get("/", (c) => c.text(`GET /forecast/lima: ${WEATHER_PRICE} USDC\n`));
  app.get("/forecast/:city", paywall, (c) => c.json({ city: c.req.param("city"), sky: "clear", celsius: 21 }));
  await paywall.ready;
  await once(serve({ fetch: app.fetch, port, hostname: HOST }), "listening");
  return `${origin}/forecast/lima`;
}

/** The merchant's words and account, made at the first start. */
function readMerchant(folder: string): { words: string; accountKey: string } {
  const file = join(folder, "merchant.json");
  if (!existsSync(file)) {
    const made = { words: createSeedWords(), accountKey: Account.createRandom().privateKey };
    writeFileSync(file, `${JSON.stringify(made, undefined, 2)}\n`, { mode: 0o600 });
  }
  return JSON.parse(readFileSync(file, "utf8"));
}

async function openAll(order: ServersOrder): Promise<readonly Merchant[]> {
  const { deployment, chain, service, wallet, folder, newsPort, weatherPort } = order;
  const { words, accountKey } = readMerchant(folder);
  const account = new Account(accountKey);
  const pool = { chainId: BigInt(deployment.chainId), pool: parseAddress(deployment.pool) };
  const keys = deriveKeys(seedFromWords(words), pool);
  const owner = ownerOf(keys, pool);
  const shared: SharedOptions = {
    recipient: { addresses: await createAddresses(owner, account), viewingKeys: () => serverKeys(owner) },
    service,
    chain: { ...deployment, rpcUrls: [chain] },
    store: `sqlite:${join(folder, "payments.sqlite")}`,
    page: { wallet },
    // For the web app, and for pages that developers write against these servers.
    cors: { origins: "*" },
  };
  // For the merchant page and the command line.
  const viewingKeys = owner.viewingKeys({ months: lastMonths(owner.now(), SHOWN_MONTHS) });
  writeFileSync(join(folder, "viewing-key.json"), `${formatViewingKeys(viewingKeys, deployment)}\n`, { mode: 0o600 });
  const prepaidOf = async (origin: string, value: bigint) => ({
    ...(await keptPrepaidKeys(join(folder, "prepaid.json"), account, { ...pool, origin, values: [value] })),
    store: `sqlite:${join(folder, "prepaid.sqlite")}`,
  });
  const [news, weather] = await Promise.all([openNews(shared, newsPort), openWeather(shared, weatherPort, prepaidOf)]);
  const recipient = parseAddress(account.address);
  return [
    { name: "News", url: news, price: NEWS_PRICE, recipient },
    { name: "Weather", url: weather, price: WEATHER_PRICE, recipient },
  ];
}

process.once("SIGTERM", () => process.exit(0));
process.once("message", (order: ServersOrder) => {
  openAll(order).then(
    (merchants) => process.send?.(merchants),
    (error: Error) => {
      console.error(error.message);
      process.exit(1);
    },
  );
});
