// The observer page in a real browser, with a real chain, a real service and a resource server.

import { readFileSync } from "node:fs";
import { wrapFetch } from "@sotto/client";
import { type LocalNode, startDeployedNode } from "@sotto/local/chain/node";
import { addMonths, formatViewingKeys, MAX_SCHEDULE_MONTHS, type Month, monthAt } from "@sotto/protocol";
import { assertAccessible, assertLayouts } from "@sotto/test-browser/accessible";
import { launchChromium } from "@sotto/test-browser/chromium";
import { STEP_MS, type TestBrowser } from "@sotto/test-browser/test-browser";
import { slow } from "@sotto/test-kit/slow";
import { openResourceServer, type ResourceServer } from "@sotto/test-world/resource-server";
import { SmallServer } from "@sotto/test-world/small-server";
import { closeWorld, openWallet, openWorld, payerWith, type World } from "@sotto/test-world/wallets";
import { connectChain, createSeedWords, seedFromWords, type Wallet } from "@sotto/wallet";
import { assertReceipt } from "@sotto/wallet/receipts";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import type { BrowserContext, Page } from "playwright-core";
import { figure } from "./support/figure.ts";
import { type Host, openHost } from "./support/host.ts";
import { NodeProxy } from "./support/node-proxy.ts";
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
  let small: SmallServer;
  let replacement: LocalNode | undefined;

  before(async () => {
    browser = await launchChromium();
    world = await openWorld();
    resourceServer = await openResourceServer(world, "0.012345");
    other = await payerWith(world, [1_000_000n, 2_000_000n]);
    await payerWith(world, [3_000_000n], { seed: seedFromWords(words) });
    small = await SmallServer.open(world, await openWallet(world), { price: PRICE });
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
      merchants: [
        { name: "Daily", url: `${resourceServer.url}/article`, price: "0.012345" },
        { name: "Small", url: `${small.url}/news` },
      ],
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
    await small?.close();
    await replacement?.stop();
    await closeWorld();
  });

  const during = (steps: () => Promise<void>) => () =>
    browser.during(steps).catch(async (error: Error) => {
      const shown = await page.locator("body").textContent();
      error.cause ??= new Error(`the page says: ${shown}; its console: ${wallet.said.join("; ") || "nothing"}`);
      throw error;
    });
  const party = (name: string) => page.getByTestId(`party-${name}`);
  const keyText = () => formatViewingKeys(resourceServer.keys, world);

  it(
    "explains what to do without a payment, and shows another payer's payment with its actual bytes",
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
      // Others have made three deposits, and no note has been spent.
      await page.getByTestId("crowd").getByText("No note had been spent before.").waitFor();
      await assertLayouts(page, "the observer page without a wallet");
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
      const now = monthAt(Date.now());
      await wallet.button("This wallet's key").click();
      const covered = await party("merchant").getByText("With the keys of").textContent();
      const ownChain = connectChain({ urls: [world.node.url], chainId: BigInt(world.chainId) });
      const { timestamp } = (await ownChain.block(world.deploymentBlock))!;
      const keysAt = (month: Month) =>
        `With the keys of ${monthAt(1000 * timestamp)} to ${addMonths(month, MAX_SCHEDULE_MONTHS)} and the lasting address`;
      expect(covered).to.be.oneOf([keysAt(now), keysAt(monthAt(Date.now()))]);
      await wallet.button("Forget the key").click();
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
      await assertLayouts(page, "the observer page after a payment");
    }),
  );

  it(
    "lets the user find this wallet's payment among real notes, and keeps the score in the tab",
    during(async () => {
      await wallet.button("Draw a payment").click();
      const notes = page.locator(".choice-note");
      await notes.first().waitFor();
      const names = (await notes.locator("strong").allTextContents()).toSorted();
      expect(names).to.include("Note 2");
      expect(new Set(names).size).to.equal(names.length);
      await notes.filter({ hasText: "Note 2" }).click();
      await page.getByTestId("outcome").getByText("Right, this time.").waitFor();
      await assertLayouts(page, "the game");
      await page.reload();
      await page.getByTestId("score").getByText("1 of 1 found").waitFor();
    }),
  );

  it(
    "shows only public data while the wallet is locked, and forgets the viewing key when the page closes",
    during(async () => {
      await party("payer").getByText("The wallet of this browser is locked.").waitFor();
      await wallet.field("Viewing key (JSON)").waitFor();
      await party("chain").getByText("Encrypted").waitFor();
    }),
  );

  it(
    "keeps its data while no node answers, and continues when one does",
    during(async () => {
      node.down = true;
      await wallet.showsError("NODE_UNREACHABLE");
      await party("chain").getByText("Encrypted").waitFor();
      node.down = false;
      // There are two if the call of the payment was not read before the node went down. Both are gone then.
      await page.locator("[data-code]").first().waitFor({ state: "detached" });
    }),
  );

  it(
    "reports that the service does not answer, and resumes the payment when it does",
    during(async () => {
      await wallet.go("/wallet");
      await wallet.unlock();
      await wallet.go("/observer");
      await party("service").getByText("This browser forgot what it sent").waitFor();
      await context.route("**/zk/**", (route) => route.abort());
      await wallet.button("Ask Daily for its price").click();
      await page.getByTestId("pay").click();
      await page.locator('[data-code="SERVICE_UNREACHABLE"]').getByText("Check your connection").waitFor();
      await context.unroute("**/zk/**");
      await wallet.button("Try again").click();
      await page.getByText("The columns below show").waitFor();
      expect(await page.locator("[data-code]").count()).to.equal(0);
      // Three payments, including the other wallet's payment and this wallet's first one.
      expect(await resourceServer.received()).to.equal(3n * PRICE);
    }),
  );

  it(
    "shows the old and the new terms if they change while the user decides, and asks again",
    during(async () => {
      const changed = page.getByTestId("changed-terms");
      await wallet.ask(`${small.url}/news`);
      small.options.price = 2n * PRICE;
      await wallet.agree();
      await page.locator('[data-code="TERMS_CHANGED"]').waitFor();
      expect(await changed.textContent()).to.equal("Price that you saw0.012345 USDCPrice now0.02469 USDC");
      await assertAccessible(page, "a changed price");
      await wallet.button("Ask for the price again").click();
      await page.getByTestId("confirm").getByText("0.02469 USDC").waitFor();
      const [before, after] = [small.account, Account.createRandom()];
      small.account = after;
      await wallet.agree();
      await page.locator('[data-code="TERMS_CHANGED"]').waitFor();
      const wallets = [before, after].map(({ address }) => address.toLowerCase());
      for (const address of wallets) expect(await changed.textContent()).to.include(address);
      expect(small.shown).to.equal(0);
      await wallet.button("Ask for the price again").click();
      await wallet.agree();
      expect(await wallet.delivered()).to.equal("sold /news ");
      await wallet.button("Done").click();
    }),
  );

  it(
    "asks before it pays a merchant whose wallet has changed since the last payment",
    during(async () => {
      const before = small.account.address.toLowerCase();
      small.account = Account.createRandom();
      await wallet.ask(`${small.url}/more`);
      await wallet.agree();
      await page.locator('[data-code="RECIPIENT_CHANGED"]').waitFor();
      for (const address of [before, small.account.address.toLowerCase()])
        expect(await page.getByTestId("changed-terms").textContent()).to.include(address);
      await assertAccessible(page, "a changed recipient");
      expect(small.sales).to.have.lengthOf(1);
      await page.getByRole("button", { name: /^Pay the new wallet/ }).click();
      expect(await wallet.delivered()).to.equal("sold /more ");
      await wallet.button("Done").click();
    }),
  );

  it(
    "saves a receipt that can be checked against the chain",
    during(async () => {
      await wallet.go("/wallet/history");
      await page.locator(".entry", { hasText: "/more" }).click();
      const saved = page.waitForEvent("download");
      await wallet.button("Save a receipt").click();
      const receipt: unknown = JSON.parse(readFileSync(await (await saved).path(), "utf8"));
      const { chainId, pool, node: own } = world;
      const chain = connectChain({ urls: [own.url], chainId: BigInt(chainId) });
      const checked = await assertReceipt(receipt, { chain, chainId: BigInt(chainId), pool, confirmations: 1 });
      expect(checked.amount).to.equal(2n * PRICE);
      expect(checked.resourceUrl).to.equal(`${small.url}/more`);
      expect(checked.recipient.wallet).to.equal(small.account.address.toLowerCase());
    }),
  );

  it(
    "reports in a second tab that another tab has the wallet open, and still shows the chain",
    during(async () => {
      const second = await context.newPage();
      second.setDefaultTimeout(STEP_MS);
      await second.goto(`${host.url}/#/observer`);
      await second.getByText("Another tab of this browser uses the wallet.").waitFor();
      await second.getByTestId("party-payer").getByText("The wallet is open in another tab.").waitFor();
      await second.getByTestId("party-chain").getByText("Encrypted").waitFor();
      await second.close();
    }),
  );

  it(
    "reports that the chain replaced blocks that it had read",
    during(async () => {
      const { provider } = world;
      await wallet.go("/pool");
      const snapshot = await provider.send("evm_snapshot", []);
      await provider.send("hardhat_mine", ["0x2"]);
      await figure(page, "Block", String(await provider.getBlockNumber())).waitFor();
      await provider.send("evm_revert", [snapshot]);
      // Otherwise the new blocks could have the same hashes as the old ones.
      await provider.send("hardhat_setCoinbase", [Account.createRandom().address]);
      await provider.send("hardhat_mine", ["0x3"]);
      await wallet.go("/observer");
      await page.getByText("The chain replaced its last").waitFor();
      await party("chain").getByText("Encrypted").waitFor();
    }),
  );

  it(
    "shows nothing of the old chain after the chain was restarted, and explains what to do with the wallet",
    during(async () => {
      replacement = await startDeployedNode();
      node.target = replacement.url;
      await page.getByText("The chain was restarted at").waitFor();
      await page.getByText("you can start fresh on the new one").waitFor();
      await party("payer").getByText("the wallet of this browser belongs to the old one").waitFor();
      await page.getByText("No payment yet.").waitFor();
      await assertAccessible(page, "the observer page after a restart of the chain");
    }),
  );
});
