// The wallet, the prover and the paying fetch in a real browser: a page with IndexedDB and a proving worker, under a content
// security policy that forbids eval, with a real chain, a real service and a resource server of another origin.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSeedWords, seedFromWords } from "@sotto/client";
import { expect } from "chai";
import type { Locator, Page } from "playwright-core";
import { buildPage } from "../../examples/browser/build.ts";
import { type PageServer, servePage } from "../../examples/browser/serve.ts";
import { clearOfMidnight } from "../kit/clock.ts";
import { slow } from "../kit/slow.ts";
import { openResourceServer, type ResourceServer } from "../world/resource-server.ts";
import { ARTIFACTS, closeWorld, openWorld, payerWith, type World } from "../world/wallets.ts";
import { launchChromium } from "./support/chromium.ts";
import { assertPainted } from "./support/painted.ts";
import { STEP_MS, type TestBrowser } from "./support/test-browser.ts";

const PRICE = 12_345n;

describe("a page", function () {
  slow(this, "a browser, a chain and proofs");
  const folder = mkdtempSync(join(tmpdir(), "sotto-page-"));
  let world: World;
  let resourceServer: ResourceServer;
  let browser: TestBrowser;
  let server: PageServer;
  let page: Page;
  const said: string[] = [];

  before(async () => {
    // Checked first, because no other test can pass if Chromium does not run or paints no text.
    browser = await launchChromium();
    world = await openWorld();
    resourceServer = await openResourceServer(world, "0.012345");
    const words = createSeedWords();
    await payerWith(world, [1_000_000n, 500_000n], { seed: seedFromWords(words) });
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
      maxPerDay: "40000",
      url: `${resourceServer.url}/article`,
      words,
    };
    const connect = [node.url, new URL(serviceUrl).origin, resourceServer.url];
    await clearOfMidnight();
    server = await servePage({ folder, artifacts: ARTIFACTS, config, connect });
    page = await browser.newPage({ viewport: { width: 900, height: 900 } });
    page.on("console", (message) => void said.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => void said.push(`error: ${error.message}`));
  });
  after(async () => {
    await browser?.close();
    await server?.close();
    await resourceServer?.close();
    await closeWorld();
    rmSync(folder, { recursive: true, force: true });
  });

  const during = (steps: () => Promise<void>) => () =>
    browser.during(steps).catch((error: Error) => {
      error.cause ??= `the page, whose console says: ${said.join("; ") || "nothing"}`;
      throw error;
    });
  const text = (id: string) => page.locator(`#${id}`).textContent();
  const shows = (selector: string) => page.locator(selector).first().waitFor();
  /** Waits until `end` is visible; each new stage of the payment extends the limit by one step. */
  const progressTo = async (end: Locator) => {
    const stages = page.locator("#stages li");
    for (let seen = 0; (await end.count()) === 0; seen = await stages.count())
      await stages.nth(seen).or(end).first().waitFor();
  };
  const answered = () => progressTo(page.locator("#answer:not([hidden]), #error:not([hidden])"));

  it(
    "opens a wallet and finds its notes",
    during(async () => {
      await page.goto(server.url);
      await assertPainted(page, "h1");
      await shows("#pay:not([disabled]), #error:not([hidden])");
      expect(await text("error")).to.equal("");
      expect(await text("balance")).to.equal("1.5 USDC");
      expect(await text("spent")).to.equal("0 USDC");
      await assertPainted(page, "#balance");
    }),
  );

  it(
    "pays a 402 of another origin and gets the goods, with a real proof of its worker",
    during(async () => {
      await page.locator("#pay").click();
      await answered();
      expect([await text("error"), await text("answer")]).to.deep.equal(["", "200\nsold /article"]);
      expect(await text("receipt")).to.match(/^settled in 0x[0-9a-f]{64}$/);
      expect(await resourceServer.received()).to.equal(PRICE);
      await page.locator("#spent", { hasText: /^0\.012345 USDC$/ }).waitFor();
      if (process.env["SOTTO_SCREENSHOT"]) await page.screenshot({ path: process.env["SOTTO_SCREENSHOT"] });
      expect(
        said.filter((line) => !line.includes("402")),
        said.join("\n"),
      ).to.deep.equal([]);
    }),
  );

  it(
    "resumes a payment after the page was closed in the middle of it, and pays once",
    during(async () => {
      const url = `${resourceServer.url}/chapter/2`;
      await page.locator("#url").fill(url);
      // The service settles it, but the page never receives the answer.
      const settled = new Promise<void>((resolve, reject) => {
        void page.route("**/zk/settle", async (route) => {
          await route.fetch({ timeout: STEP_MS }).then(() => resolve(), reject);
        });
      });
      await page.locator("#pay").click();
      await progressTo(page.locator("#stages li", { hasText: "settling" }));
      await settled;
      await page.reload();
      await page.unroute("**/zk/settle");
      await shows("#pay:not([disabled])");
      await page.locator("#url").fill(url);
      await page.locator("#pay").click();
      await answered();
      expect([await text("error"), await text("answer")]).to.deep.equal(["", "200\nsold /chapter/2"]);
      expect(await page.locator("#stages").textContent()).to.equal("confirmingpaidpresentingdelivered");
      expect(await resourceServer.received()).to.equal(2n * PRICE);
    }),
  );

  it(
    "stops at its limits",
    during(async () => {
      await page.locator("#url").fill(`${resourceServer.url}/chapter/3`);
      await page.locator("#pay").click();
      await answered();
      expect([await text("error"), resourceServer.sold.length]).to.deep.equal(["", 3]);
      await page.locator("#url").fill(`${resourceServer.url}/chapter/4`);
      await page.locator("#pay").click();
      await answered();
      expect(await text("error")).to.match(
        /^DAY_LIMIT_EXCEEDED: the price is 12345 base units, but 37035 base units of the 40000 base units allowed per day /,
      );
      await assertPainted(page, "#error");
      expect(await resourceServer.received()).to.equal(3n * PRICE);
    }),
  );
});
