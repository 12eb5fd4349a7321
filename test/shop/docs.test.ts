// The shops of the documentation sell what they say they sell, and only for a payment.
import { createSeedWords } from "@sotto/client";
import { decodeShieldedAddress } from "@sotto/protocol";
import { createPaywall, type PaywallOptions, type PaywallRecipient } from "@sotto/resource-server";
import { expect } from "chai";
import { Wallet } from "ethers";
import { DocumentedCode } from "./support/docs.ts";
import { shopOptions } from "./support/options.ts";
import { headerOf, type Payee, showing } from "./support/payments.ts";
import { ORIGIN, openShopWorld, PRICE, pay, type ShopWorld } from "./support/world.ts";

const SHOPS = ["express-shop.ts", "fastify-shop.ts", "hono-shop.ts", "fetch-shop.ts"];

/** What a reader puts into the file `options.ts`. */
const module = (options: PaywallOptions): string => `export const options = ${JSON.stringify(options)};\n`;

async function sells(world: ShopWorld, url: string, to: Payee): Promise<void> {
  expect((await fetch(`${url}/report`)).status).to.equal(402);
  const headers = showing(headerOf(await pay(world, { to, target: "/report" })));
  const response = await fetch(`${url}/report`, { headers });
  expect([response.status, await response.text()]).to.deep.equal([200, `paid for ${ORIGIN}/report`]);
  expect((await fetch(`${url}/report`, { headers })).status).to.equal(402);
}

describe("the shops of the package's README", () => {
  let world: ShopWorld;
  let code: DocumentedCode;
  before(async () => {
    world = await openShopWorld();
    code = new DocumentedCode("packages/resource-server/README.md");
  });
  after(() => code?.remove());

  it("are there, and hold under strict types", () => {
    expect(code.names).to.deep.equal(["options.ts", ...SHOPS]);
    expect(code.complaints()).to.equal("");
  });

  for (const name of SHOPS)
    it(`${name} sells its report, and only for a payment`, async () => {
      code.write("options.ts", module(shopOptions(world)));
      await code.serving(name, async (url) => {
        expect(await (await fetch(`${url}/health`)).text()).to.equal("free");
        await sells(world, url, world.merchant);
      });
    });
});

describe("the guide of a shop", () => {
  let world: ShopWorld;
  let code: DocumentedCode;
  before(async () => {
    world = await openShopWorld();
    code = new DocumentedCode("docs/shop.md");
  });
  after(() => code?.remove());

  it("holds under strict types", () => {
    expect(code.names).to.include.members(["shop.ts", "options.ts", "sign.ts", "prices.ts"]);
    expect(code.complaints()).to.equal("");
  });

  it("leads from words and an account to a shop that is paid", async () => {
    const account = Wallet.createRandom();
    const printed = code.run("sign.ts", {
      ...{ WORDS: createSeedWords(), ACCOUNT_KEY: account.privateKey },
      ...{ CHAIN_ID: String(world.chainId), POOL: world.pool },
    });
    const recipient = JSON.parse(printed) as PaywallRecipient;
    code.write("options.ts", module({ ...shopOptions(world), recipient }));
    const shielded = decodeShieldedAddress(recipient.shieldedAddress);
    await code.serving("shop.ts", (url) => sells(world, url, { wallet: account.address.toLowerCase(), shielded }));
  });

  it("names prices that are asked for", async () => {
    const { prices } = (await import(code.path("prices.ts"))) as { prices: Partial<PaywallOptions> };
    const paywall = await createPaywall({ ...shopOptions(world), ...prices });
    try {
      const asked = async (method: string, target: string) => {
        const decision = await paywall.decide({ method, target, header: () => [] });
        if (decision.kind !== "refused") return decision.kind;
        return (decision.body as { payment: { amountBaseUnits: string } }).payment.amountBaseUnits;
      };
      const expected: [string, string, string][] = [
        ["GET", "/else", String(PRICE)],
        ["GET", "/reports/5", "250000"],
        ["GET", "/archive/a/b", "2000000"],
        ["GET", "/search?deep=yes", "50000"],
        ["GET", "/search", "5000"],
        ["GET", "/health", "free"],
        ["GET", "/terms/a", "free"],
        ["POST", "/webhook", "free"],
        ["GET", "/webhook", String(PRICE)],
      ];
      for (const [method, target, price] of expected)
        expect([target, await asked(method, target)]).to.deep.equal([target, price]);
    } finally {
      await paywall.close();
    }
  });
});
