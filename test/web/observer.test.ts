// The observer page in a real browser, with a real chain, a real service and a resource server.
import { createSeedWords, seedFromWords, type Wallet, wrapFetch } from "@sotto/client";
import { expect } from "chai";
import type { BrowserContext, Page } from "playwright-core";
import { slow } from "../kit/slow.ts";
import { openResourceServer, type ResourceServer } from "../world/resource-server.ts";
import { closeWorld, openWorld, payerWith, type World } from "../world/wallets.ts";
import { assertAccessible, assertFits } from "./support/accessible.ts";
import { launchChromium } from "./support/chromium.ts";
import { type Host, openHost } from "./support/host.ts";
import { NodeProxy } from "./support/node-proxy.ts";
import { STEP_MS, type TestBrowser } from "./support/test-browser.ts";
import { WalletPage } from "./support/wallet-page.ts";

const PRICE = 12_345n;

describe("the observer page", function () {
  slow(this, "a browser, a chain and proofs");
  const words = createSeedWords();
  let world: World;
  let other: Wallet;
  let resourceServer: ResourceServer;
  let node: NodeProxy;
  let host: Host;
  let browser: TestBrowser;
  let context: BrowserContext;
  let page: Page;
  let wallet: WalletPage;

  before(async () => {
    browser = await launchChromium();
    world = await openWorld();
    resourceServer = await openResourceServer(world, "0.012345");
    other = await payerWith(world, [1_000_000n, 2_000_000n]);
    await payerWith(world, [3_000_000n], { seed: seedFromWords(words) });
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
    wallet = new WalletPage(page, host.url);
  });
  after(async () => {
    await browser?.close();
    await host?.close();
    await node?.close();
    await resourceServer?.close();
    await closeWorld();
  });

  const during = (steps: () => Promise<void>) => () =>
    browser.during(steps).catch(async (error: Error) => {
      const shown = await page.locator("body").textContent();
      error.cause ??= new Error(`the page says: ${shown}; its console: ${wallet.said.join("; ") || "nothing"}`);
      throw error;
    });
  const party = (name: string) => page.getByTestId(`party-${name}`);
  const keyText = () => {
    const { viewingKey, shieldedAddress } = resourceServer.keys;
    const { chainId, pool } = world;
    const fields = { viewingKey: `0x${viewingKey.toString(16).padStart(64, "0")}`, shieldedAddress };
    return JSON.stringify({ type: "sotto-viewing-key", version: 1, ...fields, chainId: String(chainId), pool });
  };
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
    "says what to do without a payment, and shows someone else's with its true bytes",
    during(async () => {
      await wallet.go("/observer");
      await page.getByText("No payment yet.").waitFor();
      await page.getByRole("link", { name: "Create a wallet" }).waitFor();
      const pay = wrapFetch(fetch, other, {
        services: [world.serviceUrl],
        maxPerRequest: PRICE,
        maxPerDay: 2n * PRICE,
      });
      expect((await pay(`${resourceServer.url}/first`)).status).to.equal(200);
      await party("chain").getByText("Encrypted").waitFor();
      await party("payer").getByText("This browser has no wallet.").waitFor();
      await party("service").getByText("another payer did").waitFor();
      const nullifier = page.getByTestId("value-nullifier");
      await page.getByTestId("value-root").waitFor();
      await nullifier.locator("summary").click();
      await nullifier.getByText("Only the owner of the note can compute it").waitFor();
      const spent = other.notes().find(({ state }) => state === "spent" || state === "spending")?.nullifier;
      const bytes = await nullifier.locator(".bytes").textContent();
      expect(bytes).to.equal(`0x${spent?.toString(16).padStart(64, "0")}`);
      await page.getByText("The bytes of the whole call").click();
      expect(await page.locator(".calldata").textContent()).to.include(bytes?.slice(2));
      // Three deposits by others; nothing was spent before.
      await page.getByTestId("crowd").getByText("No note had been spent before.").waitFor();
      await checkLayouts("the observer page without a wallet");
    }),
  );

  it(
    "fills each column from its own source while this wallet pays",
    during(async () => {
      await wallet.go("/wallet");
      await wallet.button("Restore from 24 words").click();
      await wallet.field("Words").fill(words);
      await wallet.button("Continue").click();
      await wallet.choosePassphrase();
      await wallet.hasSpendable("3.00");
      await wallet.go("/observer");
      await wallet.field("Viewing key (JSON)").fill(keyText().replace("sotto-viewing-key", "key"));
      await wallet.button("Use it").click();
      await wallet.showsError("VIEWING_KEY_INVALID");
      await wallet.field("Viewing key (JSON)").fill(keyText());
      await wallet.button("Use it").click();
      await wallet.button("Ask Daily for its price").click();
      await page.getByTestId("pay").click();
      await party("payer").getByText(`${resourceServer.url}/article`).waitFor();
      await page.getByText("The columns below show").waitFor();
      await party("payer").getByText("Note 2 of the tree").waitFor();
      await party("merchant").getByText("Decrypted with the viewing key").waitFor();
      await party("service").getByText("Checked, then settled").waitFor();
      expect(await party("merchant").textContent())
        .to.include("0.012345")
        .and.not.include("/article");
      expect(await party("service").textContent())
        .to.include("0.012345 USDC to 0.013579 USDC")
        .and.include(`${resourceServer.url}/article`)
        .and.not.include("Note 2");
      const chain = await party("chain").textContent();
      for (const secret of ["0.012345", "/article", "Note 2"]) expect(chain).not.to.include(secret);
      await checkLayouts("the observer page after a payment");
    }),
  );

  it(
    "draws this wallet's payment among real notes, and keeps the score in the tab",
    during(async () => {
      await wallet.button("Draw a payment").click();
      const notes = page.locator(".choice-note");
      await notes.first().waitFor();
      const names = (await notes.locator("strong").allTextContents()).toSorted();
      expect(names).to.include("Note 2");
      expect(new Set(names).size).to.equal(names.length);
      await notes.filter({ hasText: "Note 2" }).click();
      await page.getByTestId("outcome").getByText("Right, this time.").waitFor();
      await checkLayouts("the game");
      await page.reload();
      await page.getByTestId("score").getByText("1 of 1 found").waitFor();
    }),
  );

  it(
    "shows what everyone can read with a locked wallet, and forgets the viewing key with the page",
    during(async () => {
      await party("payer").getByText("The wallet of this browser is locked.").waitFor();
      await wallet.field("Viewing key (JSON)").waitFor();
      await party("chain").getByText("Encrypted").waitFor();
    }),
  );

  it(
    "keeps what it read when no node answers, and continues when one does",
    during(async () => {
      node.down = true;
      await wallet.showsError("NODE_UNREACHABLE");
      await party("chain").getByText("Encrypted").waitFor();
      node.down = false;
      await page.locator("[data-code]").waitFor({ state: "detached" });
    }),
  );
});
