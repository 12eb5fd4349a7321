// The resource servers of `npm run dev`, as a child process: a news server on Express, a weather server on Hono, and a proxy in front
// of a model, which is the template's. They belong to one merchant, whose words are stored in the state folder.
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import type { CuratedSet } from "@sotto/local/demo/processes";
import { createAddresses, lastMonths, ownerOf, serverKeys } from "@sotto/local/merchant/addresses";
import { keptMeteredCredit, type MeteredCredit } from "@sotto/local/merchant/metered-terms";
import { keptPrepaidKeys } from "@sotto/local/merchant/prepaid-keys";
import { origins } from "@sotto/origins/server";
import { type MeteredRouteRule, meteredRuleHash } from "@sotto/prepaid";
import { meteredCredit, type PrepaidOptions, prepaid } from "@sotto/prepaid/server";
import {
  type DeploymentManifest,
  deriveKeys,
  formatDecimalAmount,
  formatViewingKeys,
  parseAddress,
  parseDecimalAmount,
} from "@sotto/protocol";
import type { Payment, PaywallOptions } from "@sotto/resource-server";
import { sotto as expressPaywall } from "@sotto/resource-server/express";
import { sotto as honoPaywall } from "@sotto/resource-server/hono";
import { createSeedWords, seedFromWords } from "@sotto/wallet";
import { Wallet as Account } from "ethers";
import express from "express";
import { Hono } from "hono";
import { CHAT_PATH, chatRoutes } from "../../create-sotto/templates/resource-server-llm/src/chat.ts";
import { openLocalModel } from "../../create-sotto/templates/resource-server-llm/src/local-model.ts";
import { RULE, signedPrices } from "../../create-sotto/templates/resource-server-llm/src/price.ts";

const HOST = "127.0.0.1";

export interface ServersOrder {
  readonly deployment: DeploymentManifest;
  /** JSON-RPC URL. */
  readonly chain: string;
  /** Base URL of the service. */
  readonly service: string;
  /** The set that payments may show. */
  readonly set: CuratedSet;
  /** URL of the web app. */
  readonly wallet: string;
  /** The state folder. */
  readonly folder: string;
  readonly newsPort: number;
  readonly weatherPort: number;
  readonly modelPort: number;
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

/** What the three servers sell. */
export interface Servers {
  /** A browser can pay for their resources. */
  readonly merchants: readonly Merchant[];
  readonly model: {
    /** Base URL for clients of OpenAI. */
    readonly url: string;
    /** The most that a chat costs, in whole tokens. */
    readonly cap: string;
  };
}

/** Sends a line for the user. */
const tell = (line: string): void => void process.send?.(line);

type SharedOptions = Omit<PaywallOptions, "origin" | "price">;

const NEWS_PRICE = "0.05";
const WEATHER_PRICE = "0.02";
const DECIMALS = 6;
/** How many months before this one the merchant page shows. */
const SHOWN_MONTHS = 24;

/** Which sets the payment showed, for people. */
function originText(payment: Payment | undefined): string {
  const names = payment?.origin?.map(({ name }) => name) ?? [];
  return names.length === 0 ? "" : `Your money is in the curator's set ${names.join(", ")}.\n`;
}

async function openNews(shared: SharedOptions, port: number): Promise<string> {
  const origin = `http://${HOST}:${port}`;
  const app = express();
  const paywall = expressPaywall({ ...shared, origin, price: NEWS_PRICE });
  app.use("/.well-known/sotto", paywall);
  app.options("/articles/:number", paywall);
  app.get("/", (_, response) => void response.type("text").send(`GET /articles/1: ${NEWS_PRICE} USDC\n`));
  app.get("/articles/:number", paywall, ({ params, payment }, response) => {
    response
      .type("text")
      .send(`Article ${params["number"]}. You paid for ${payment?.resource}.\n${originText(payment)}`);
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

/** The model charges for its tokens. A changed price applies once it is signed, as for every merchant. */
async function openModel(
  shared: SharedOptions,
  port: number,
  { store, guard }: Required<Pick<PrepaidOptions, "store" | "guard">>,
  creditOf: (origin: string, route: MeteredRouteRule) => Promise<MeteredCredit>,
): Promise<Servers["model"]> {
  const origin = `http://${HOST}:${port}`;
  const credit = await creditOf(origin, { method: "POST", path: CHAT_PATH, rule: RULE });
  const priceNow = signedPrices(credit.metered.terms, CHAT_PATH);
  const { rule } = priceNow();
  if (meteredRuleHash(rule) !== meteredRuleHash(RULE))
    tell("the model's price has changed since it was signed; --fresh signs it");
  const tokens = prepaid({ ...credit.prepaid, store, guard });
  const methods = [tokens, meteredCredit({ prepaid: tokens, ...credit.metered })];
  const app = express();
  const paywall = expressPaywall({ ...shared, origin, price: () => priceNow().quote, methods });
  app.use("/.well-known/sotto", paywall);
  app.options(CHAT_PATH, paywall);
  app.use(chatRoutes(paywall, await openLocalModel(), priceNow));
  await paywall.ready;
  await once(app.listen(port, HOST), "listening");
  return { url: `${origin}/v1`, cap: formatDecimalAmount(rule.cap, DECIMALS) };
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

async function openAll(order: ServersOrder): Promise<Servers> {
  const { deployment, chain, service, set, wallet, folder, newsPort, weatherPort, modelPort } = order;
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
    // A payment without an origin is served too. The service mirrors the curator's heads.
    attachments: [origins({ sets: [{ ...set, mirrors: [`${service}/origins/${set.key}/${set.name}`] }] })],
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
  const creditOf = (origin: string, route: MeteredRouteRule) =>
    keptMeteredCredit(join(folder, "metered.json"), account, { ...pool, origin, route });
  const credit = { store: `sqlite:${join(folder, "metered.sqlite")}`, guard: join(folder, "metered.guard") };
  const [news, weather, model] = await Promise.all([
    openNews(shared, newsPort),
    openWeather(shared, weatherPort, prepaidOf),
    openModel(shared, modelPort, credit, creditOf),
  ]);
  const recipient = parseAddress(account.address);
  return {
    merchants: [
      { name: "News", url: news, price: NEWS_PRICE, recipient },
      { name: "Weather", url: weather, price: WEATHER_PRICE, recipient },
    ],
    model,
  };
}

process.once("SIGTERM", () => process.exit(0));
process.once("message", (order: ServersOrder) => {
  openAll(order).then(
    (servers) => process.send?.(servers),
    (error: Error) => {
      console.error(error.message);
      process.exit(1);
    },
  );
});
