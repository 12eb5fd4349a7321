// The pages pool, merchant and service in a real browser, with a real chain and a real service.
import { readFileSync } from "node:fs";
import { type Wallet, wrapFetch } from "@sotto/client";
import { expect } from "chai";
import type { BrowserContext, Page } from "playwright-core";
import { slow } from "../kit/slow.ts";
import { openResourceServer, type ResourceServer } from "../world/resource-server.ts";
import { SmallServer } from "../world/small-server.ts";
import { closeWorld, openWallet, openWorld, payerWith, type World } from "../world/wallets.ts";
import { assertAccessible, assertFits } from "./support/accessible.ts";
import { launchChromium } from "./support/chromium.ts";
import { type Host, openHost } from "./support/host.ts";
import { NodeProxy } from "./support/node-proxy.ts";
import { STEP_MS, type TestBrowser } from "./support/test-browser.ts";

const PRICE = 12_345n;

describe("the pages of the pool, the merchant and the service", function () {
  slow(this, "a browser, a chain and proofs");
  let world: World;
  let payer: Wallet;
  let merchant: Wallet;
  let small: SmallServer;
  let resourceServer: ResourceServer;
  let node: NodeProxy;
  let host: Host;
  let browser: TestBrowser;
  let context: BrowserContext;
  let page: Page;
  const said: string[] = [];

  before(async () => {
    browser = await launchChromium();
    world = await openWorld({ SOTTO_CORS_ORIGINS: "*" });
    merchant = await openWallet(world);
    small = await SmallServer.open(world, merchant, { price: PRICE });
    resourceServer = await openResourceServer(world, "0.012345");
    payer = await payerWith(world, [1_000_000n, 1_000_000n]);
    node = await NodeProxy.open(world.node.url);
    host = await openHost({ chain: world.node.url, token: world.token });
    const { version, network, set, chainId, pool, token, deploymentBlock } = world;
    const { smallestDeposit, contracts, verificationKeys } = world;
    const place = { version, network, set, chainId, pool, token, deploymentBlock };
    host.config = {
      name: "Test chain",
      deployment: { ...place, smallestDeposit, contracts, verificationKeys },
      nodes: [node.url],
      service: world.serviceUrl,
      merchants: [{ name: "Daily", url: `${resourceServer.url}/article`, price: "0.012345" }],
    };
    context = await browser.browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-US" });
    page = await context.newPage();
    page.setDefaultTimeout(STEP_MS);
    page.on("console", (message) => void said.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => void said.push(`error: ${error.message}`));
  });
  after(async () => {
    await browser?.close();
    await host?.close();
    await node?.close();
    await resourceServer?.close();
    await small?.close();
    await closeWorld();
  });

  const during = (steps: () => Promise<void>) => () =>
    browser.during(steps).catch(async (error: Error) => {
      const shown = await page
        .locator("main")
        .textContent()
        .catch(() => "nothing");
      error.cause ??= new Error(`the page says: ${shown}; its console: ${said.join("; ") || "nothing"}`);
      throw error;
    });
  const go = (route: string) => page.goto(`${host.url}/#${route}`);
  const figure = (name: string, value: string) =>
    page.locator(".figure", { has: page.getByText(name, { exact: true }) }).filter({ hasText: value });
  const checkLayouts = async (what: string) => {
    for (const width of [360, 1280])
      for (const colorScheme of ["light", "dark"] as const) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        await assertFits(page, `${what} at ${width} px`);
        await assertAccessible(page, `${what} at ${width} px, ${colorScheme}`);
      }
  };

  it(
    "shows the pool's notes, compares its contracts, and follows a payment",
    during(async () => {
      await go("/pool");
      await figure("Notes", "2").waitFor();
      await figure("Payments", "0").waitFor();
      await page.getByText("the chain has the code of the manifest").waitFor();
      const pay = wrapFetch(fetch, payer, { services: [world.serviceUrl], maxPerRequest: PRICE });
      expect((await pay(`${small.url}/report`)).status).to.equal(200);
      await figure("Payments", "1").waitFor();
      await figure("Notes", "4").waitFor();
      await page.getByRole("list", { name: "Notes, newest first" }).getByText("Payment").waitFor();
      await checkLayouts("the pool page");
    }),
  );

  it(
    "finds a nullifier, and shows the public values of its transaction",
    during(async () => {
      const nullifier = small.sales[0]?.nullifier ?? expect.fail("nothing was sold");
      await page.getByRole("searchbox", { name: "Search the pool" }).fill(nullifier);
      await page.getByRole("list", { name: "Found" }).getByText("nullifier").waitFor();
      await page.getByRole("button", { name: "Show" }).first().click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("at most 2 unspent notes").waitFor();
      await assertAccessible(page, "a transaction");
      await dialog.getByRole("button", { name: "Close" }).click();
    }),
  );

  it(
    "keeps what it has read while the node is unreachable, and after a reload",
    during(async () => {
      node.down = true;
      await page.locator('[data-code="NODE_UNREACHABLE"]').first().waitFor();
      expect(await figure("Notes", "4").count()).to.equal(1);
      node.down = false;
      await page.getByRole("button", { name: "Try again now" }).click();
      await page.locator('[data-code="NODE_UNREACHABLE"]').first().waitFor({ state: "detached" });
      await page.reload();
      await figure("Notes", "4").waitFor();
      const pages = await page.evaluate(async (name) => {
        const database = await new Promise<IDBDatabase>((resolve, reject) => {
          const request = indexedDB.open(name);
          request.onsuccess = () => resolve(request.result);
          request.onerror = () => reject(request.error);
        });
        const request = database.transaction("pages").objectStore("pages").count();
        return new Promise<number>((resolve) => {
          request.onsuccess = () => resolve(request.result);
        });
      }, `sotto-pool-${world.chainId}-${world.pool}`);
      expect(pages).to.be.greaterThan(0);
    }),
  );

  it(
    "opens a merchant's payments with a viewing key, exports them, and forgets the key",
    during(async () => {
      const { viewingKey, shieldedAddress } = merchant.exportViewingKey();
      const key = `0x${viewingKey.toString(16).padStart(64, "0")}`;
      const { chainId, pool } = world;
      const text = { type: "sotto-viewing-key", version: 1, viewingKey: key, shieldedAddress, pool };
      await go("/merchant");
      await page.getByLabel("Viewing key", { exact: true }).fill(JSON.stringify({ ...text, chainId: "1" }));
      await page.getByRole("button", { name: "Open", exact: true }).click();
      await page.locator('[data-code="VIEWING_KEY_INVALID"]').waitFor();
      await page.getByLabel("Viewing key", { exact: true }).fill(JSON.stringify({ ...text, chainId: String(chainId) }));
      await page.getByRole("button", { name: "Open", exact: true }).click();
      await figure("Confirmed, all time", "0.012345").waitFor();
      await checkLayouts("the merchant page");
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Export CSV" }).click(),
      ]);
      expect(readFileSync(await download.path(), "utf8")).to.include(",in,settled,12345,0.012345,");
      const stored = await page.evaluate(async () => {
        const databases = (await indexedDB.databases()).map(({ name }) => name);
        return JSON.stringify([{ ...localStorage }, { ...sessionStorage }, databases]);
      });
      expect(stored).not.to.include(key.slice(2));
      await page.getByRole("button", { name: "Close and forget the key" }).click();
      await page.getByLabel("Viewing key", { exact: true }).waitFor();
      expect(await page.getByText("0.012345").count()).to.equal(0);
    }),
  );

  it(
    "checks a receipt against the chain, and refuses a changed one",
    during(async () => {
      await payer.scan();
      const [payment] = await payer.payments({ decimals: 6, direction: "out" });
      const options = { challenge: "invoice 7", showDeposit: true };
      const receipt = await payer.receipt(payment?.id ?? expect.fail("no payment"), options);
      const check = async (text: object) => {
        await page.getByLabel("Receipt", { exact: true }).fill(JSON.stringify(text));
        await page.getByLabel("Challenge").fill("invoice 7");
        await page.getByRole("button", { name: "Check the receipt" }).click();
      };
      await check({ ...receipt, amount: "12346" });
      await page.locator('[data-code="RECEIPT_INVALID"]').waitFor();
      await check(receipt);
      await page.getByText("The payment settled on this chain.").waitFor();
    }),
  );

  it(
    "explains the 402 of a route",
    during(async () => {
      await page.getByLabel("Resource").fill(`${resourceServer.url}/article`);
      await page.getByRole("button", { name: "Request it" }).click();
      const explained = page.getByTestId("instructions");
      await explained.getByText("0.012345").waitFor();
      expect(await explained.textContent()).to.include(`${resourceServer.url}/article`);
    }),
  );

  it(
    "shows the service's checks, and says when it does not answer",
    during(async () => {
      await go("/service");
      await page.getByRole("heading", { name: "Ready for payments" }).waitFor();
      expect(await page.getByRole("list", { name: "Checks" }).getByRole("listitem").count()).to.be.at.least(7);
      await page.getByRole("heading", { name: "Latencies" }).waitFor();
      await checkLayouts("the service page");
      await page.route("**/readyz", (route) => route.abort());
      await page.locator('[data-code="PAGE_UNREACHABLE"]').waitFor();
    }),
  );

  it("kept to the content policy, and no script failed", () => {
    const wrong = said.filter((line) => /content security|^error: (?!Failed to load resource)/i.test(line));
    expect(wrong).to.deep.equal([]);
  });
});
