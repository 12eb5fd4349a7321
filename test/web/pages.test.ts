// The pages pool, merchant and service in a real browser, with a real chain and a real service.

import { readFileSync } from "node:fs";
import { wrapFetch } from "@sotto/client";
import { type LocalNode, startDeployedNode } from "@sotto/local/chain/node";
import { encodeEvidence, parseSet } from "@sotto/origins";
import { type Bytes32, type DeploymentManifest, formatViewingKeys, prepareOrigin } from "@sotto/protocol";
import { assertAccessible, assertLayouts } from "@sotto/test-browser/accessible";
import { launchChromium } from "@sotto/test-browser/chromium";
import { STEP_MS, type TestBrowser } from "@sotto/test-browser/test-browser";
import { slow } from "@sotto/test-kit/slow";
import { openResourceServer, type ResourceServer } from "@sotto/test-world/resource-server";
import { SmallServer } from "@sotto/test-world/small-server";
import { closeWorld, openWallet, openWorld, payerWith, until, type World } from "@sotto/test-world/wallets";
import { decodeEvent, type Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import type { BrowserContext, Page } from "playwright-core";
import { MemoryCurator } from "../../packages/origins/test/support/memory-curator.ts";
import { figure as figureOf } from "./support/figure.ts";
import { fillStorage } from "./support/fill-storage.ts";
import { createPlainHost, type Host, listen, openHost } from "./support/host.ts";
import { NodeProxy } from "./support/node-proxy.ts";

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
  let replacement: LocalNode | undefined;

  before(async () => {
    browser = await launchChromium();
    world = await openWorld({ SOTTO_CORS_ORIGINS: "*" });
    merchant = await openWallet(world);
    small = await SmallServer.open(world, merchant, { price: PRICE });
    resourceServer = await openResourceServer(world, "0.012345");
    payer = await payerWith(world, [1_000_000n, 1_000_000n]);
    node = await NodeProxy.open(world.node.url);
    host = await openHost({ chain: world.node.url, token: world.token });
    host.config = configFor(world);
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
    await replacement?.stop();
    await closeWorld();
  });

  function configFor({ version, network, set, chainId, pool, token, deploymentBlock, ...rest }: DeploymentManifest) {
    const { smallestDeposit, contracts, verificationKeys } = rest;
    const place = { version, network, set, chainId, pool, token, deploymentBlock };
    return {
      name: "Test chain",
      deployment: { ...place, smallestDeposit, contracts, verificationKeys },
      nodes: [node.url],
      service: world.serviceUrl,
      merchants: [{ name: "Daily", url: `${resourceServer.url}/article`, price: "0.012345" }],
    };
  }
  async function openTab(from = context): Promise<Page> {
    const tab = await from.newPage();
    tab.setDefaultTimeout(STEP_MS);
    return tab;
  }
  const openKey = async (tab: Page) => {
    await tab.goto(`${host.url}/#/merchant`);
    const field = tab.getByLabel("Viewing key", { exact: true });
    const close = tab.getByRole("button", { name: "Close and forget the key" });
    await field.or(close).waitFor();
    if (await close.isVisible()) await close.click();
    await field.fill(formatViewingKeys(merchant.viewingKeys({ lasting: true }), world));
    await tab.getByRole("button", { name: "Open", exact: true }).click();
  };
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
  const figure = (name: string, value: string, tab = page) => figureOf(tab, name, value);

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
      await assertLayouts(page, "the pool page");
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
    "keeps its data while the node is unreachable, and after a reload",
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
      await go("/merchant");
      const key = merchant.viewingKeys({ lasting: true });
      const field = page.getByLabel("Viewing key", { exact: true });
      await field.fill(formatViewingKeys(key, { ...world, chainId: 1 }));
      await page.getByRole("button", { name: "Open", exact: true }).click();
      await page.locator('[data-code="VIEWING_KEY_INVALID"]').waitFor();
      await field.fill(formatViewingKeys(key, world));
      await page.getByRole("button", { name: "Open", exact: true }).click();
      await figure("Confirmed, all time", "0.012345").waitFor();
      await assertLayouts(page, "the merchant page");
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Export CSV" }).click(),
      ]);
      expect(readFileSync(await download.path(), "utf8")).to.include(",in,settled,12345,0.012345,");
      const stored = await page.evaluate(async () => {
        const databases = (await indexedDB.databases()).map(({ name }) => name);
        return JSON.stringify([{ ...localStorage }, { ...sessionStorage }, databases]);
      });
      expect(stored).not.to.include(key.keys[0]!.viewingKey.toString(16));
      await page.getByRole("button", { name: "Close and forget the key" }).click();
      await field.waitFor();
      expect(await page.getByText("0.012345").count()).to.equal(0);
    }),
  );

  it(
    "checks a receipt against the chain, and rejects a changed one",
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
    "checks evidence of a payment's origin, and rejects a changed one",
    during(async () => {
      await payer.scan();
      const curator = new MemoryCurator({ chain: payer.chain, pool: world.pool });
      const signed = await curator.acceptNew();
      const { maskRoot } = signed.head;
      const paid = payer.history().find(({ kind, state }) => kind === "payment" && state === "settled");
      const note = payer.notes().find(({ state }) => state === "spent");
      if (paid === undefined || note === undefined) return expect.fail("no payment");
      const path = curator.state.mask.path(note.leafIndex);
      const proof = await payer.proveNote(note.leafIndex, "origin", (spent) =>
        prepareOrigin({ note: spent, path, maskRoot }),
      );
      const claim = { nullifier: note.nullifier!, maskRoot, proof };
      const range = { address: world.pool, from: paid.blockNumber!, to: paid.blockNumber! };
      const [log] = (await payer.chain.logs(range)).filter((one) => decodeEvent(one)?.type === "settled");
      const evidence = encodeEvidence({
        set: parseSet(signed.head),
        transaction: paid.transactionHash as Bytes32,
        block: paid.blockNumber!,
        logIndex: log!.logIndex,
        time: paid.timestamp!,
        notes: [{ claim, head: signed, next: undefined }],
      });
      const check = async (text: string) => {
        await page.getByLabel("Evidence", { exact: true }).fill(text);
        await page.getByLabel("Curator's account").fill(curator.curator);
        await page.getByLabel("Set", { exact: true }).fill(curator.name);
        await page.getByRole("button", { name: "Check the evidence" }).click();
      };
      await check(evidence.replace(proof[0]!, proof[2]!));
      await page.locator('[data-code="EVIDENCE_INVALID"]').waitFor();
      await check(evidence);
      await page.getByText("descends only from deposits that the curator accepted").waitFor();
      await assertLayouts(page, "the check of evidence");
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
    "shows the service's checks, and reports when it does not answer",
    during(async () => {
      await go("/service");
      await page.getByRole("heading", { name: "Ready for payments" }).waitFor();
      expect(await page.getByRole("list", { name: "Checks" }).getByRole("listitem").count()).to.be.at.least(7);
      await page.getByRole("heading", { name: "Latencies" }).waitFor();
      await assertLayouts(page, "the service page");
      await page.route("**/readyz", (route) => route.abort());
      await page.locator('[data-code="PAGE_UNREACHABLE"]').waitFor();
    }),
  );

  it(
    "distinguishes a server that is down from one that does not allow pages to read it",
    during(async () => {
      const server = await listen((_, response) => void response.end("no page may read this"));
      await go("/merchant");
      await page.getByLabel("Resource").fill(server.url);
      await page.getByRole("button", { name: "Request it" }).click();
      await page.locator('[data-code="PAGE_BLOCKED"]').getByText("The server answers, but").waitFor();
      await server.close();
      await page.getByRole("button", { name: "Request it" }).click();
      await page.locator('[data-code="PAGE_UNREACHABLE"]').getByText("Check the address").waitFor();
    }),
  );

  it(
    "reads pool and payments as soon as a node answers, and shows a single message until then",
    during(async () => {
      await page.reload();
      node.down = true;
      const tab = await openTab(await browser.browser.newContext());
      await tab.goto(`${host.url}/#/pool`);
      await openKey(page);
      await page.getByText("Waiting for the node").waitFor();
      for (const each of [tab, page]) {
        await each.locator('[data-code="NODE_UNREACHABLE"]').getByText("The app keeps trying").waitFor();
        expect(await each.locator("[data-code]").count()).to.equal(1);
      }
      node.down = false;
      await figure("Confirmed, all time", "0.012345").waitFor();
      await tab.getByText("the chain has the code of the manifest").waitFor();
      await figure("Notes", "4", tab).waitFor();
      for (const each of [tab, page]) await each.locator("[data-code]").waitFor({ state: "detached" });
      await tab.context().close();
    }),
  );

  it(
    "keeps a merchant's payments while no node answers",
    during(async () => {
      node.down = true;
      await page.getByText("the page shows what it has read before").waitFor();
      expect(await figure("Confirmed, all time", "0.012345").count()).to.equal(1);
      await assertAccessible(page, "the merchant page without a node");
      node.down = false;
      await page.locator("[data-code]").waitFor({ state: "detached" });
    }),
  );

  it(
    "shows the pool even if the browser has no room to store it, and reports that",
    during(async () => {
      const tab = await openTab(await browser.browser.newContext());
      const session = await tab.context().newCDPSession(tab);
      await session.send("Storage.overrideQuotaForOrigin", { origin: host.url, quotaSize: 500_000 });
      await tab.goto(`${host.url}/#/service`);
      await tab.evaluate(fillStorage);
      await openKey(tab);
      await figure("Confirmed, all time", "0.012345", tab).waitFor();
      for (const route of ["pool", "observer"]) {
        await tab.goto(`${host.url}/#/${route}`);
        await tab.locator('[data-code="POOL_NOT_KEPT"]').getByText("You can continue.").waitFor();
      }
      await tab.goto(`${host.url}/#/pool`);
      await figure("Notes", "4", tab).waitFor();
      await assertAccessible(tab, "the pool page in a full browser");
      await tab.context().close();
    }),
  );

  it(
    "shows an error in place of a failed page until a reload, while the other pages work",
    during(async () => {
      const tab = await openTab();
      await tab.route("**/assets/pool-page-*.js", (route) => route.abort());
      await tab.goto(`${host.url}/#/pool`);
      await tab.getByRole("heading", { name: "This page stopped working" }).waitFor();
      await tab.getByText("Nothing is lost").waitFor();
      await assertAccessible(tab, "a page that failed");
      await tab.getByRole("link", { name: "Merchant" }).click();
      await tab.getByRole("heading", { name: "Merchant", exact: true }).waitFor();
      await tab.getByRole("link", { name: "Pool" }).click();
      await tab.unroute("**/assets/pool-page-*.js");
      await tab.getByRole("button", { name: "Reload" }).click();
      await tab.getByRole("heading", { name: "Pool" }).waitFor();
      await tab.close();
    }),
  );

  it(
    "shows an error of the app itself instead of an empty page",
    during(async () => {
      const tab = await openTab();
      // The function that the top bar calls to render.
      await tab.addInitScript(() => {
        const { startsWith } = String.prototype;
        String.prototype.startsWith = function (this: string, text: string, at?: number) {
          if (text === "/service") throw new Error("broken on purpose");
          return startsWith.call(this, text, at);
        };
      });
      await tab.goto(`${host.url}/#/pool`);
      await tab.getByRole("heading", { name: "This page stopped working" }).waitFor();
      await tab.locator('[data-code="APP_FAILED"]').getByRole("button", { name: "Reload" }).waitFor();
      await tab.close();
    }),
  );

  it(
    "draws charts in a browser whose language is not a valid language tag",
    during(async () => {
      const tab = await openTab();
      await tab.addInitScript(() => {
        Object.defineProperty(Navigator.prototype, "language", { get: () => "en-US@posix", configurable: true });
      });
      await tab.goto(`${host.url}/#/pool`);
      await tab.locator(".chart canvas").nth(1).waitFor();
      expect(await tab.locator("[data-code]").count()).to.equal(0);
      await tab.close();
    }),
  );

  it(
    "shows two tabs the same pool",
    during(async () => {
      await go("/pool");
      await figure("Notes", "4").waitFor();
      const second = await openTab();
      await second.goto(`${host.url}/#/pool`);
      await second.getByText("Another tab stores the data of this pool.").waitFor();
      await figure("Notes", "4", second).waitFor();
      await second.close();
    }),
  );

  it(
    "reports that the chain replaced blocks that the page had read",
    during(async () => {
      const ownNode = await NodeProxy.open(world.node.url);
      host.config = { ...configFor(world), nodes: [ownNode.url] };
      const tab = await openTab();
      await openKey(tab);
      await figure("Confirmed, all time", "0.012345", tab).waitFor();
      const { provider } = world;
      const snapshot = await provider.send("evm_snapshot", []);
      await provider.send("hardhat_mine", ["0x2"]);
      await figure("Block", String(await provider.getBlockNumber())).waitFor();
      const { looks } = ownNode;
      // The second read from now starts only after the first has ended.
      await until(async () => ownNode.looks >= looks + 2);
      await provider.send("evm_revert", [snapshot]);
      // Otherwise the new blocks could have the same hashes as the old ones.
      await provider.send("hardhat_setCoinbase", [Account.createRandom().address]);
      await provider.send("hardhat_mine", ["0x3"]);
      for (const each of [page, tab]) await each.getByText("The chain replaced its last").waitFor();
      expect(await figure("Confirmed, all time", "0.012345", tab).count()).to.equal(1);
      expect(await figure("Notes", "4").count()).to.equal(1);
      host.config = configFor(world);
      await tab.close();
      await ownNode.close();
    }),
  );

  it(
    "shows a restarted chain, and after a reload the node and pool that its host now names",
    during(async () => {
      await openKey(page);
      await figure("Confirmed, all time", "0.012345").waitFor();
      const pool = await openTab();
      await pool.goto(`${host.url}/#/pool`);
      await figure("Notes", "4", pool).waitFor();
      replacement = await startDeployedNode();
      node.target = replacement.url;
      for (const tab of [page, pool]) await tab.getByText("The chain was restarted at").waitFor();
      await figure("Confirmed, all time", "0.00").waitFor();
      await figure("Notes", "0", pool).waitFor();
      await pool.getByText("Nothing happened in the last 24 hours.").waitFor();
      await pool.getByText("the chain has the code of the manifest").waitFor();
      // The chain is restarted without the pool, and the host names another node.
      host.config = { ...configFor(world), nodes: [world.node.url] };
      await rpc(replacement.url, "hardhat_setCode", [world.pool, "0x"]);
      await rpc(replacement.url, "hardhat_mine", ["0x1"]);
      await pool.locator('[data-code="HOST_CHANGED"]').waitFor();
      await assertAccessible(pool, "the pool page of a host that names another node");
      await pool.getByRole("button", { name: "Reload" }).click();
      await pool.getByText("the chain has the code of the manifest").waitFor();
      await figure("Notes", "4", pool).waitFor();
      await pool.close();
    }),
  );

  it(
    "runs no third-party script on a host that sends no headers",
    during(async () => {
      const files = await listen(createPlainHost());
      const tab = await openTab();
      await tab.goto(files.url);
      await tab.getByRole("button", { name: "Connect" }).waitFor();
      const ran = await tab.evaluate(() => {
        const script = document.createElement("script");
        script.textContent = "globalThis.injected = true";
        document.head.append(script);
        return "injected" in globalThis;
      });
      expect(ran).to.equal(false);
      await tab.close();
      await files.close();
    }),
  );

  it("complied with the content policy, without script errors", () => {
    const wrong = said.filter((line) => /content security|^error: (?!Failed to load resource)/i.test(line));
    expect(wrong).to.deep.equal([]);
  });
});

async function rpc(url: string, method: string, params: readonly unknown[]): Promise<void> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  expect(await response.json()).not.to.have.property("error");
}
