// Discovery with the published packages: their server lists a resource, their client pays for it and repeats the
// listing, and their catalog client finds it at the service.

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { encodeShieldedAddress } from "@sotto/protocol";
import { X402_SCHEME_PRIVACY } from "@sotto/protocol/x402";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { eventually } from "@sotto/test-kit/eventually";
import { call, post } from "@sotto/test-kit/http";
import { slow } from "@sotto/test-kit/slow";
import { merchantKey, merchantTag } from "@sotto/test-world/bundles";
import { openService, openWorld, type TestService, type World } from "@sotto/test-world/service";
import { SottoScheme as FacilitatorScheme } from "@sotto/x402/facilitator";
import { createX402Listing } from "@sotto/x402/server";
import { x402Facilitator } from "@x402/core/facilitator";
import { HTTPFacilitatorClient } from "@x402/core/server";
import type { PaymentPayload, PaymentRequired, PaymentRequirements } from "@x402/core/types";
import {
  type DiscoveryExtension,
  type DiscoveryResource,
  extractDiscoveryInfo,
  type ListDiscoveryResourcesParams,
  validateDiscoveryExtension,
  validateDiscoveryExtensionSpec,
  withBazaar,
} from "@x402/extensions/bazaar";
import { x402Client } from "@x402/fetch";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { bundleFor } from "./support/payer.ts";
import { decode, encode, openResourceServer, type ResourceServer, signRecipient } from "./support/resource-server.ts";

const TEXTS = { description: "The weather", mimeType: "application/json", serviceName: "Weather", tags: ["weather"] };
const WEATHER = createX402Listing({
  method: "GET",
  ...TEXTS,
  input: {
    example: { city: "Bern" },
    schema: { type: "object", properties: { city: { type: "string", pattern: "^[A-Z]" } }, required: ["city"] },
  },
  output: { example: { degrees: 7 } },
});
const USER = createX402Listing({ method: "GET", description: "A user" });

describe("discovery with the published packages", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let service: TestService;
  let server: ResourceServer;
  let account: Account;

  before(async () => {
    world = await openWorld();
    service = await openService({ SOTTO_DISCOVERY: "on" });
    account = new Account(Account.createRandom().privateKey);
    const address = encodeShieldedAddress({ encryptionKey: merchantKey, ownerTag: merchantTag });
    const recipient = await signRecipient(world, account, address);
    const listings = { "GET /weather": WEATHER, "GET /users/:id": USER };
    server = await openResourceServer(world, recipient, service.url, {}, listings);
  });
  after(async () => {
    await server.close();
    await service.close();
  });

  /** The published client's payment for the challenge at a path. */
  async function payment(path: string): Promise<PaymentPayload> {
    const required = decode((await fetch(server.origin + path)).headers.get("payment-required")) as unknown;
    const scheme = {
      scheme: "sotto",
      findDefaultAsset: (asset: string) => ({ asset, decimals: 6, symbol: "USDC" }),
      createPaymentPayload: async (x402Version: number, accepted: PaymentRequirements) => ({
        x402Version,
        payload: { ...bundleFor(world, world.root, accepted as never) },
      }),
    };
    const client = new x402Client().register(`eip155:${world.chainId}`, scheme as never);
    return client.createPaymentPayload(required as PaymentRequired);
  }
  async function buy(path: string): Promise<void> {
    const headers = { "PAYMENT-SIGNATURE": encode(await payment(path)) };
    expect((await fetch(server.origin + path, { headers })).status).to.equal(200);
  }
  /** Settles a payment without its resource server. @returns the decoded EXTENSION-RESPONSES */
  async function settle(paymentPayload: PaymentPayload): Promise<Record<string, unknown>> {
    const body = { x402Version: 2, paymentPayload, paymentRequirements: paymentPayload.accepted };
    const settled = await post(`${service.url}/settle`, body);
    expect(settled.body).to.include({ success: true });
    return decode(settled.headers.get("extension-responses"));
  }
  const catalog = (query: ListDiscoveryResourcesParams = {}, url = service.url) =>
    withBazaar(new HTTPFacilitatorClient({ url })).extensions.bazaar.listResources(query);
  const listed = (url: string): Promise<DiscoveryResource> =>
    eventually(async () => (await catalog()).items.find(({ resource }) => resource === url));
  /** Number of resources that the service has recorded but not requested yet. */
  function waiting(): number {
    const file = new DatabaseSync(join(service.folder, "store.sqlite"), { readOnly: true });
    const { count } = file.prepare("select count(*) as count from listings where item = ''").get() as { count: number };
    file.close();
    return count;
  }
  const asked = () => eventually(async () => (waiting() === 0 ? true : undefined));

  it("lists a resource that was paid for, as its host describes it", async () => {
    await buy("/weather?city=Basel");
    const item = await listed(`${server.origin}/weather`);
    expect(item).to.include({ type: "http", x402Version: 2, description: TEXTS.description, mimeType: TEXTS.mimeType });
    expect(item).to.deep.include({ serviceName: TEXTS.serviceName, tags: TEXTS.tags });
    const [terms] = item.accepts;
    expect(terms).to.include({ scheme: "sotto", amount: "1000000", payTo: account.address.toLowerCase() });
    expect(terms!.extra).to.have.keys("pool", "decimals", "resource", "service");
    expect(item.extensions!["privacy"]).to.deep.include({ info: X402_SCHEME_PRIVACY });
    expect(item.lastUpdated).to.match(/^\d{4}-\d\d-\d\dT00:00:00.000Z$/);
    const bazaar = item.extensions!["bazaar"] as DiscoveryExtension;
    expect(bazaar.info).to.deep.equal(WEATHER.extensions.bazaar.info);
    expect(validateDiscoveryExtension(bazaar)).to.deep.equal({ valid: true });
  });

  it("declares what the published functions extract and accept", async () => {
    const payload = await payment("/weather?city=Basel");
    for (const key of ["bazaar", "privacy"] as const) {
      const extension = payload.extensions![key] as DiscoveryExtension;
      expect(validateDiscoveryExtension(extension)).to.deep.equal({ valid: true });
    }
    const bazaar = payload.extensions!["bazaar"] as Record<string, unknown>;
    expect(validateDiscoveryExtensionSpec(bazaar)).to.deep.equal({ valid: true });
    const found = extractDiscoveryInfo(payload, payload.accepted);
    expect(found).to.deep.include({ resourceUrl: `${server.origin}/weather`, method: "GET", ...TEXTS });
    const template = extractDiscoveryInfo(await payment("/users/7"), payload.accepted);
    expect(template).to.deep.include({ resourceUrl: `${server.origin}/users/:id`, routeTemplate: "/users/:id" });
  });

  it("changes nothing with further payments", async () => {
    await buy("/weather");
    await listed(`${server.origin}/weather`);
    const before = await catalog();
    expect(await settle(await payment("/weather"))).to.deep.equal({ bazaar: { status: "processing" } });
    await asked();
    expect(await catalog()).to.deep.equal(before);
  });

  it("lists a path with parameters as its template", async () => {
    await buy("/users/alice?from=bob");
    await listed(`${server.origin}/users/:id`);
    expect(JSON.stringify(await catalog())).to.not.match(/alice|bob/);
    const payload = await payment("/users/carol");
    const { bazaar, ...others } = payload.extensions as { bazaar: Record<string, unknown> };
    const { routeTemplate: _, ...without } = bazaar;
    await settle({ ...payload, extensions: { ...others, bazaar: without } });
    await asked();
    expect(JSON.stringify(await catalog())).to.not.include("carol");
  });

  it("filters by the standard's parameters and by the privacy class", async () => {
    await buy("/weather");
    await listed(`${server.origin}/weather`);
    const network = `eip155:${world.chainId}`;
    const payTo = account.address;
    const all = (await catalog()).pagination.total;
    for (const same of [{ type: "http" }, { scheme: "sotto" }, { network }, { payTo }, { extensions: "privacy" }])
      expect((await catalog(same)).pagination, JSON.stringify(same)).to.deep.equal({
        limit: 20,
        offset: 0,
        total: all,
      });
    for (const other of [{ type: "mcp" }, { scheme: "exact" }, { network: "eip155:1" }, { payTo: world.pool }])
      expect((await catalog(other)).items, JSON.stringify(other)).to.deep.equal([]);
    const resources = `${service.url}/discovery/resources`;
    expect((await call(`${resources}?privacy=shielded`)).body["items"]).to.have.lengthOf(all);
    expect((await call(`${resources}?privacy=public`)).body["items"]).to.deep.equal([]);
    expect((await catalog({ limit: 1, offset: all })).items).to.deep.equal([]);
    expect((await catalog({ limit: 5_000 })).pagination.limit).to.equal(100);
    for (const wrong of ["limit=-1", "offset=1e9", "limit=ten", `payTo=${"0".repeat(65)}`])
      expect((await call(`${resources}?${wrong}`)).body, wrong).to.include({ code: "INVALID_REQUEST" });
  });

  it("does not list a resource that a payload names but its host does not list", async () => {
    const payload = await payment("/report");
    const { bazaar } = WEATHER.extensions;
    const resource = { url: "https://bank.example/login", description: "Log in" };
    const hostile = { ...payload, resource, extensions: { bazaar } };
    expect(await settle(hostile)).to.deep.equal({ bazaar: { status: "processing" } });
    await asked();
    const urls = (await catalog()).items.map((item) => item.resource);
    expect(urls).to.not.include(`${server.origin}/report`);
    expect(urls.filter((url) => url.includes("bank.example"))).to.deep.equal([]);
  });

  it("rejects a listing of another kind, but settles the payment", async () => {
    const payload = await payment("/weather");
    const input = { type: "mcp", tool: "weather", inputSchema: {} };
    const answer = await settle({ ...payload, extensions: { bazaar: { info: { input }, schema: {} } } });
    expect(answer["bazaar"]).to.include({ status: "rejected" });
    expect(await settle({ ...(await payment("/weather")), extensions: {} })).to.deep.equal({});
  });

  it("records listings that a merchant's own facilitator forwards", async () => {
    const scheme = await FacilitatorScheme.open({ service: service.url });
    const facilitator = new x402Facilitator().register(scheme.network, scheme);
    const payload = await payment("/users/dora");
    await facilitator.settle(payload, payload.accepted);
    await listed(`${server.origin}/users/:id`);
  });

  it("serves neither the catalog nor the extension unless discovery is on", async () => {
    expect((await call(`${service.url}/supported`)).body["extensions"]).to.deep.equal(["bazaar"]);
    const off = closedAfterTest(await openService());
    expect((await call(`${off.url}/supported`)).body["extensions"]).to.deep.equal([]);
    expect((await call(`${off.url}/discovery/resources`)).status).to.equal(404);
    const payload = await payment("/weather");
    const body = { x402Version: 2, paymentPayload: payload, paymentRequirements: payload.accepted };
    expect((await post(`${off.url}/settle`, body)).headers.get("extension-responses")).to.equal(null);
  });
});
