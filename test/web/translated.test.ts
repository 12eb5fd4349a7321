// Every page of the web app and the page of a 402, translated by the browser: the pages keep working, and the values that
// people compare or write down stay as they are.

import { readFileSync } from "node:fs";
import { formatViewingKeys } from "@sotto/protocol";
import { assertAccessible, assertFits } from "@sotto/test-browser/accessible";
import { launchChromium } from "@sotto/test-browser/chromium";
import { STEP_MS, type TestBrowser } from "@sotto/test-browser/test-browser";
import { clearOfMidnight } from "@sotto/test-kit/clock";
import { slow } from "@sotto/test-kit/slow";
import { openMeteredServer } from "@sotto/test-world/metered-server";
import { openResourceServer, type ResourceServer } from "@sotto/test-world/resource-server";
import { closeWorld, openWorld, type World } from "@sotto/test-world/wallets";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import type { BrowserContext, Page } from "playwright-core";
import { figure } from "./support/figure.ts";
import { type Host, openHost } from "./support/host.ts";
import { NodeProxy } from "./support/node-proxy.ts";
import { assertTranslated, translatePages } from "./support/translator.ts";
import { PASSPHRASE, WalletPage } from "./support/wallet-page.ts";

describe("translated pages", function () {
  slow(this, "a browser, a chain and proofs");
  // Each test continues with the wallet from the previous test.
  this.bail(true);
  let world: World;
  let resourceServer: ResourceServer;
  let node: NodeProxy;
  let host: Host;
  let browser: TestBrowser;
  let context: BrowserContext;
  let wallet: WalletPage;
  let page: Page;
  let words: string[];

  before(async () => {
    browser = await launchChromium();
    world = await openWorld({ SOTTO_CORS_ORIGINS: "*" });
    resourceServer = await openResourceServer(world, "0.012345", { wallet: "https://wallet.example", name: "Daily" });
    node = await NodeProxy.open(world.node.url);
    host = await openHost({ chain: world.node.url, token: world.token });
    const { version, network, set, chainId, pool, token, deploymentBlock, smallestDeposit, contracts } = world;
    const { verificationKeys } = world;
    const place = { version, network, set, chainId, pool, token, deploymentBlock };
    host.config = {
      name: "Test chain",
      deployment: { ...place, smallestDeposit, contracts, verificationKeys },
      nodes: [node.url],
      service: world.serviceUrl,
      faucet: host.faucetUrl,
      merchants: [{ name: "Daily", url: `${resourceServer.url}/article`, price: "0.012345" }],
    };
    context = await browser.browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-US" });
    wallet = await openTab();
    page = wallet.page;
  });
  after(async () => {
    await browser?.close();
    await host?.close();
    await node?.close();
    await resourceServer?.close();
    await closeWorld();
  });

  async function openTab(): Promise<WalletPage> {
    const tab = await context.newPage();
    tab.setDefaultTimeout(STEP_MS);
    await translatePages(tab);
    return new WalletPage(tab, host.url);
  }
  /** Also checks that no page has failed. */
  const during = (steps: () => Promise<void>) => () =>
    browser
      .during(async () => {
        await steps();
        expect(await page.getByRole("heading", { name: "This page stopped working" }).count()).to.equal(0);
        expect(
          wallet.said.filter((line) => line.startsWith("error: ") && !/Failed to load|402/.test(line)),
        ).to.deep.equal([]);
      })
      .catch(async (error: Error) => {
        const shown = await page
          .locator("main")
          .textContent()
          .catch(() => "nothing");
        error.cause ??= new Error(`the page says: ${shown}; its console: ${wallet.said.join("; ") || "nothing"}`);
        throw error;
      });

  it(
    "show the 24 words of a new wallet as they are",
    during(async () => {
      await wallet.go("/wallet");
      await wallet.button("Create a wallet").click();
      const list = page.locator(".words li");
      await list.first().waitFor();
      words = await list.allTextContents();
      expect(words).to.have.lengthOf(24);
      await assertTranslated(page, "the words of a new wallet", words);
      expect(await page.locator(".words [data-translated]").count()).to.equal(0);
      await wallet.button("I have written them down").click();
      await wallet.answerWords(words);
      await wallet.button("Continue").click();
      await wallet.choosePassphrase();
      await assertTranslated(page, "the overview of an empty wallet");
    }),
  );

  it(
    "follow the balance while funds arrive and are spent",
    during(async () => {
      await page.getByRole("link", { name: "Add funds" }).click();
      await wallet.button("Get test USDC").click();
      await page.locator("dialog").getByText("100.00").waitFor();
      await wallet.field("Amount").fill("20");
      await wallet.button("Sign and deposit").click();
      await wallet.reach(wallet.button("Done"));
      await assertTranslated(page, "added funds");
      await wallet.button("Done").click();
      await wallet.hasSpendable("20.00");
      await page.getByTestId("arriving").getByText("All of it is spendable.").waitFor();
      await wallet.ask(`${resourceServer.url}/article`);
      await assertTranslated(page, "a price");
      await wallet.agree();
      expect(await wallet.delivered()).to.equal("sold /article");
      await assertTranslated(page, "a receipt");
      await wallet.button("Done").click();
      await wallet.hasSpendable("19.987655");
      await assertTranslated(page, "the overview");
    }),
  );

  it(
    "withdraw, and list what happened",
    during(async () => {
      await wallet.go("/wallet/withdraw");
      await wallet.field("To the account").fill(`\u202a${Account.createRandom().address}\u202c`);
      await wallet.field("Amount").fill("1.5");
      await wallet.button("Withdraw").click();
      await wallet.reach(wallet.button("Done"));
      await assertTranslated(page, "a withdrawal");
      await wallet.button("Done").click();
      await wallet.go("/wallet/history");
      await page.locator(".entry").first().click();
      await page.getByRole("dialog").getByText("Recipient").waitFor();
      await assertTranslated(page, "an entry of the history");
      await page.getByRole("button", { name: "Close" }).click();
      await page.getByLabel("Search the history").fill("no such entry");
      await page.getByText("No payment matches the search.").waitFor();
      await page.getByLabel("Search the history").fill("withdrawal");
      await page.locator(".entry").first().waitFor();
    }),
  );

  it(
    "show the words and the pool in the settings, and the address, as they are",
    during(async () => {
      await wallet.go("/wallet/settings");
      await wallet.field("Per payment").fill("2");
      await wallet.button("Save limits").click();
      await page.getByText("Saved.").waitFor();
      await wallet.button("Show the words").click();
      await wallet.field("Passphrase").fill(PASSPHRASE);
      await page.locator("form").getByRole("button", { name: "Show the words" }).click();
      await page.locator(".words li").first().waitFor();
      expect(await page.locator(".words li").allTextContents()).to.deep.equal(words);
      await assertTranslated(page, "the settings", words);
      expect(await page.locator(".words [data-translated]").count()).to.equal(0);
      await wallet.button("Hide the words").click();
      await wallet.go("/wallet/receive");
      await page.getByText("Your shielded address", { exact: true }).waitFor();
      await assertTranslated(page, "the address");
      await wallet.go("/wallet/phone");
      await wallet.field("Phone number").fill("+1 415 555 0100");
      await wallet.field("Amount").fill("0.01");
      await wallet.button("Continue").click();
      await wallet.page.locator("[data-code] summary").click();
      await assertTranslated(page, "an error");
    }),
  );

  it(
    "move a wallet to another tab and lock it",
    during(async () => {
      const other = await openTab();
      await other.go("/wallet");
      await other.page.getByText("The other tab opened it at").waitFor();
      await other.button("Use it in this tab").click();
      await other.unlock();
      await page.getByText("Only one tab at a time can use it").waitFor();
      await wallet.go("/wallet");
      await wallet.button("Use it in this tab").click();
      await wallet.unlock();
      await other.page.close();
    }),
  );

  it(
    "show what each party learns while the wallet pays",
    during(async () => {
      const party = (name: string) => page.getByTestId(`party-${name}`);
      await wallet.go("/observer");
      await party("payer").getByText("This wallet").waitFor();
      await wallet.field("Viewing key (JSON)").fill(formatViewingKeys(resourceServer.keys, world));
      await wallet.button("Use it").click();
      await party("merchant").getByText("Decrypted with the viewing key").waitFor();
      await wallet.button("Ask Daily for its price").click();
      await page.getByTestId("pay").click();
      await page.getByText("The columns below show").waitFor();
      await party("service").getByText("Checked, then settled").waitFor();
      await wallet.button("Pay again").click();
      await wallet.button("Draw a payment").click();
      await page.locator(".choice-note").first().click();
      await page
        .getByTestId("outcome")
        .getByText(/^(Right|No)/)
        .waitFor();
      await page.getByTestId("value-nullifier").locator("summary").click();
      await page.getByText("The bytes of the whole call").click();
      await assertTranslated(page, "the observer page");
      await wallet.button("Forget the key").click();
      await wallet.field("Viewing key (JSON)").waitFor();
      await page.locator(".seen-list button").last().click();
      await wallet.button("Follow the newest").click();
    }),
  );

  it(
    "show a merchant's payments and a route",
    during(async () => {
      await wallet.go("/merchant");
      await wallet.field("Viewing key").fill(formatViewingKeys(resourceServer.keys, world));
      await wallet.button("Open").click();
      await figure(page, "Confirmed, all time", "0.02469").waitFor();
      await wallet.button("By day").click();
      await wallet.button("Request it").click();
      await page.getByTestId("instructions").getByText("0.012345").waitFor();
      await wallet.field("Receipt").fill("{}");
      await wallet.button("Check the receipt").click();
      await page.locator("[data-code]").first().waitFor();
      await assertTranslated(page, "the merchant page");
      await wallet.button("Close and forget the keys").click();
      await wallet.field("Viewing key").waitFor();
    }),
  );

  it(
    "show the pool, find a transaction, and recover from a node that is down",
    during(async () => {
      await wallet.go("/pool");
      await figure(page, "Payments", "2").waitFor();
      await page.getByText("the chain has the code of the manifest").waitFor();
      const search = page.getByRole("searchbox", { name: "Search the pool" });
      await search.fill("fffffffffffffffffff");
      await page.getByText("Not found in this pool.").waitFor();
      await search.fill("1");
      await page.getByRole("button", { name: "Show" }).first().click();
      await page.getByRole("dialog").locator("dd").nth(8).waitFor();
      await assertTranslated(page, "a transaction");
      await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
      await search.fill("");
      await wallet.button("7 days").click();
      await assertTranslated(page, "the pool page");
      node.down = true;
      await wallet.showsError("NODE_UNREACHABLE");
      node.down = false;
      await page.getByRole("button", { name: "Try again now" }).click();
      await page.locator('[data-code="NODE_UNREACHABLE"]').first().waitFor({ state: "detached" });
    }),
  );

  it(
    "show the service, and report when it does not answer",
    during(async () => {
      await wallet.go("/service");
      await page.getByRole("heading", { name: "Ready for payments" }).waitFor();
      await assertTranslated(page, "the service page");
      await page.route("**/readyz", (route) => route.abort());
      await wallet.showsError("PAGE_UNREACHABLE");
      await page.getByText("no answer now").waitFor();
      await page.unroute("**/readyz");
      await page.locator("[data-code]").waitFor({ state: "detached" });
    }),
  );

  it(
    "show what a merchant charged, and ask for change that has not arrived",
    during(async () => {
      await clearOfMidnight();
      const server = await openMeteredServer(world, undefined, { cors: { origins: "*" } });
      try {
        const tokens = page.getByRole("region", { name: "Prepaid tokens" });
        const shows = (text: string) => tokens.locator("li > span > span", { hasText: text }).waitFor();
        await wallet.hasArrived();
        await wallet.ask(`${server.url}/words/3`);
        await page.getByText("This is the most that the request can cost").waitFor();
        await assertTranslated(page, "the price of a metered request");
        await wallet.button("Buy tokens").click();
        await wallet.reach(wallet.button("Done").or(page.locator("[data-code]")));
        expect(await wallet.errors()).to.deep.equal([]);
        await assertTranslated(page, "tokens for metered requests");
        await wallet.button("Done").click();
        await shows("100 left, 1.00 USDC");
        const change = "**/prepaid/change*";
        await context.route(change, (route) => route.abort());
        await wallet.ask(`${server.url}/words/3`);
        await wallet.agree();
        expect(await wallet.delivered()).to.equal("end");
        await assertTranslated(page, "a metered request");
        await wallet.button("Done").click();
        await shows("99 left, 0.99 USDC");
        await shows("up to 0.01 USDC on the way back");
        expect(await tokens.textContent()).not.to.include("charged");
        await context.unroute(change);
        // The page of before would still ask by itself: what a closed page left open is asked for by its owner.
        await page.reload();
        await wallet.unlock();
        await shows("up to 0.01 USDC on the way back");
        await assertTranslated(page, "change that has not arrived");
        await wallet.button("Ask for it").click();
        await shows("0.003 USDC charged for 1 request");
        await wallet.button("Ask for it").waitFor({ state: "detached" });
        await shows("0.997 USDC");
        expect(await wallet.errors()).to.deep.equal([]);
        for (const width of [1280, 390]) {
          await page.setViewportSize({ width, height: 900 });
          for (const route of ["/wallet", "/wallet/history"]) {
            await wallet.go(route);
            await page.locator(".entry", { hasText: "Charged" }).filter({ hasText: "0.003" }).waitFor();
            await assertFits(page, `${route}, ${width} px`);
            await assertAccessible(page, `${route}, ${width} px`);
            await assertTranslated(page, `${route} with a charge`);
          }
        }
        await page.locator(".entry", { hasText: "Charged" }).click();
        await page.getByText("Paid with a prepaid token.").waitFor();
        await assertTranslated(page, "a charge");
        await page.getByRole("button", { name: "Close" }).click();
        const saving = page.waitForEvent("download");
        await wallet.button("Payments as CSV").click();
        const csv = readFileSync(await (await saving).path(), "utf8");
        expect(csv)
          .to.include(`${server.url}/words/3`)
          .and.match(/,charge,3000,0\.003\r\n/);
      } finally {
        await page.setViewportSize({ width: 1280, height: 900 });
        await server.close();
      }
    }),
  );

  it("show the page of a 402 with its values as they are", () =>
    browser.during(async () => {
      const tab = await browser.newPage();
      await translatePages(tab);
      await tab.goto(`${resourceServer.url}/report`);
      await tab.getByText("Contracts and service").click();
      await assertTranslated(tab, "the page of a 402");
      expect(await tab.getByRole("heading", { level: 1 }).textContent()).to.equal("This page costs 0.012345 USDC");
      await tab.close();
    }));
});
