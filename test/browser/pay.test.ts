// The wallet, the prover and the paying fetch in a real browser: a page with IndexedDB, a worker that proves, a policy
// that lets nothing be evaluated; a real chain, a real service, a shop of another origin.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSeedWords, seedFromWords } from "@sotto/client";
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { buildPage } from "../../examples/browser/build.ts";
import { type PageServer, servePage } from "../../examples/browser/serve.ts";
import { Shop } from "../buyer/support/shop.ts";
import { ARTIFACTS, closeWorld, openWallet, openWorld, payerWith, type World } from "../buyer/support/world.ts";
import { launchChromium } from "./support/chromium.ts";

const PRICE = 12_345n;

describe("a browser", () => {
  const folder = mkdtempSync(join(tmpdir(), "sotto-page-"));
  let world: World;
  let shop: Shop;
  let browser: Browser;
  let server: PageServer;
  let page: Page;
  const said: string[] = [];

  before(async function () {
    this.timeout(120_000);
    world = await openWorld();
    shop = await Shop.open(world, await openWallet(world), { price: PRICE });
    const words = createSeedWords();
    await payerWith(world, [1_000_000n], { seed: seedFromWords(words) });
    await buildPage(folder);
    const { node, chainId, pool, deploymentBlock, serviceUrl } = world;
    const config = {
      node: node.url,
      chainId,
      pool,
      deploymentBlock,
      finality: 0,
      service: serviceUrl,
      maxPerRequest: "20000",
      maxPerDay: "30000",
      url: `${shop.url}/article`,
      words,
    };
    const connect = [node.url, new URL(serviceUrl).origin, shop.url];
    server = await servePage({ folder, artifacts: ARTIFACTS, config, connect });
    browser = await launchChromium();
    page = await browser.newPage({ viewport: { width: 900, height: 900 } });
    page.on("console", (message) => void said.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => void said.push(`error: ${error.message}`));
  });
  after(async () => {
    await browser?.close();
    await server?.close();
    await shop?.close();
    await closeWorld();
    rmSync(folder, { recursive: true, force: true });
  });

  const text = (id: string) => page.locator(`#${id}`).textContent();
  const shows = (selector: string) =>
    page
      .locator(selector)
      .first()
      .waitFor({ timeout: 50_000 })
      .catch((error: Error) => expect.fail(`${error.message}\n${said.join("\n")}`));
  const answered = () => shows("#answer:not([hidden]), #error:not([hidden])");

  it("opens a wallet and finds its notes", async function () {
    this.timeout(60_000);
    await page.goto(server.url);
    await shows("#pay:not([disabled]), #error:not([hidden])");
    expect(await text("error")).to.equal("");
    expect(await text("balance")).to.equal("1 USDC");
    expect(await text("spent")).to.equal("0 USDC");
  });

  it("pays a 402 of another origin and gets the goods, with a real proof of its worker", async function () {
    this.timeout(60_000);
    await page.locator("#pay").click();
    await answered();
    expect([await text("error"), await text("answer")]).to.deep.equal(["", "200\nsold /article "]);
    expect(await text("receipt")).to.match(/^settled in 0x[0-9a-f]{64}$/);
    expect(await shop.received()).to.equal(PRICE);
    expect(await text("spent")).to.equal("0.012345 USDC");
    if (process.env["SOTTO_SCREENSHOT"]) await page.screenshot({ path: process.env["SOTTO_SCREENSHOT"] });
    expect(
      said.filter((line) => !line.includes("402")),
      said.join("\n"),
    ).to.deep.equal([]);
  });
});
