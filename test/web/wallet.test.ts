// The wallet page in a real browser, under the recommended content policy, with a real chain, a real service and a resource
// server of another origin. The tests follow one wallet from its creation to its removal.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type LocalNode, startDeployedNode } from "@sotto/local/chain/node";
import { formatViewingKeys } from "@sotto/protocol";
import { assertAccessible, assertFits } from "@sotto/test-browser/accessible";
import { launchChromium } from "@sotto/test-browser/chromium";
import { assertPainted } from "@sotto/test-browser/painted";
import { STEP_MS, type TestBrowser } from "@sotto/test-browser/test-browser";
import { clearOfMidnight } from "@sotto/test-kit/clock";
import { eventually } from "@sotto/test-kit/eventually";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { ownersWallet } from "@sotto/test-world/contract-wallets";
import { phoneSettings, sentCodes } from "@sotto/test-world/phone";
import { openPrepaidMerchant, PrepaidServer } from "@sotto/test-world/prepaid-server";
import { openResourceServer, type ResourceServer } from "@sotto/test-world/resource-server";
import { closeWorld, openWorld, type World } from "@sotto/test-world/wallets";
import { expect } from "chai";
import { Wallet as Account, Contract } from "ethers";
import type { BrowserContext } from "playwright-core";
import { fillStorage } from "./support/fill-storage.ts";
import { type Host, openHost } from "./support/host.ts";
import { NodeProxy } from "./support/node-proxy.ts";
import { type LayoutElement, PICTURES, readLayout, VIEWPORT } from "./support/pictures.ts";
import { PASSPHRASE, WalletPage } from "./support/wallet-page.ts";

const PRICE = 12_345n;
/** Of a prepaid token: a pack of 100 is within what the other payments leave of the daily limit. */
const TOKEN_VALUE = 10n;
const TOKEN = ["function mint(address, uint256)", "function balanceOf(address) view returns (uint256)"];
const PHONE = "+4915112345678";
const IMAGES = join(import.meta.dirname, "..", "..", "docs", "images");

describe("the wallet page", function () {
  slow(this, "a browser, a chain and proofs");
  // Each test continues with the wallet from the previous test.
  this.bail(true);
  const folder = temporaryFolder("web");
  const codeFile = join(folder, "codes.jsonl");
  let world: World;
  let token: Contract;
  let resourceServer: ResourceServer;
  let node: NodeProxy;
  let host: Host;
  let browser: TestBrowser;
  let context: BrowserContext;
  let wallet: WalletPage;
  let words: string;
  let backup: string;
  let replacement: LocalNode | undefined;

  before(async () => {
    // Checked first, because no other test can pass if Chromium does not run or paints no text.
    browser = await launchChromium();
    world = await openWorld({
      ...phoneSettings,
      SOTTO_PHONE_KEYS: join(folder, "keys.json"),
      SOTTO_PHONE_CODE_FILE: codeFile,
    });
    token = new Contract(world.token, TOKEN, world.depositor);
    resourceServer = await openResourceServer(world, "0.012345");
    node = await NodeProxy.open(world.node.url);
    host = await openHost({ chain: world.node.url, token: world.token });
    host.config = configFor(world);
    await clearOfMidnight();
    context = await browser.browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-US" });
    wallet = await openTab();
  });
  after(async () => {
    await browser?.close();
    await host?.close();
    await node?.close();
    await resourceServer?.close();
    await replacement?.stop();
    await closeWorld();
  });

  function configFor({ version, network, set, chainId, pool, token, deploymentBlock, ...rest }: World) {
    const { smallestDeposit, contracts, verificationKeys, serviceUrl } = rest;
    return {
      name: "Test chain",
      deployment: {
        ...{ version, network, set, chainId, pool, token, deploymentBlock },
        ...{ smallestDeposit, contracts, verificationKeys },
      },
      nodes: [node.url],
      service: serviceUrl,
      faucet: host.faucetUrl,
      merchants: [{ name: "Daily", url: `${resourceServer.url}/article`, price: "0.012345" }],
      limits: { maxPerRequest: "0.02", maxPerDay: "0.05" },
    };
  }

  async function openTab(): Promise<WalletPage> {
    const page = await context.newPage();
    page.setDefaultTimeout(STEP_MS);
    return new WalletPage(page, host.url);
  }

  const during = (steps: () => Promise<void>) => () =>
    browser.during(steps).catch(async (error: Error) => {
      const shown = await wallet.page
        .locator("main")
        .textContent()
        .catch(() => "nothing");
      error.cause ??= new Error(`the page says: ${shown}; its console: ${wallet.said.join("; ") || "nothing"}`);
      throw error;
    });
  const historyOf = async () => {
    await wallet.go("/wallet/history");
    return (await wallet.page.locator(".entry strong").allTextContents()).toSorted();
  };

  it(
    "shows 24 words once, and asks for some of them",
    during(async () => {
      await wallet.go("/wallet");
      await assertPainted(wallet.page, "h1");
      await assertAccessible(wallet.page, "the first view");
      await wallet.button("Create a wallet").click();
      await wallet.page.locator(".words li").first().waitFor();
      const shown = await wallet.page.locator(".words li").allTextContents();
      expect(shown).to.have.lengthOf(24);
      await wallet.button("I have written them down").click();
      await wallet.answerWords(shown.map(() => "zebra"));
      await wallet.button("Continue").click();
      await wallet.page.getByText("These are not the words").waitFor();
      await wallet.answerWords(shown);
      await wallet.button("Continue").click();
      await wallet.choosePassphrase();
      words = shown.join(" ");
      expect(await wallet.page.getByTestId("arriving").textContent()).to.equal("No funds yet.");
    }),
  );

  it(
    "keeps the key encrypted: a wrong passphrase is refused",
    during(async () => {
      await wallet.page.reload();
      await wallet.field("Passphrase").fill("correct horse batterie");
      await wallet.button("Unlock").click();
      await wallet.showsError("PASSPHRASE_WRONG");
      await wallet.unlock();
      const stored = await wallet.page.evaluate(dumpDatabases);
      expect(stored).to.include("PBKDF2-SHA-256");
      // The name of this field is one of the 2,048 words too.
      const text = stored.replaceAll('"version":', "");
      for (const word of words.split(" ").filter(({ length }) => length > 5)) expect(text).not.to.include(word);
    }),
  );

  it(
    "gets test tokens from the faucet, and deposits them with a signature",
    during(async () => {
      await wallet.page.getByRole("link", { name: "Add funds" }).click();
      await wallet.button("Get test USDC").click();
      await wallet.page.locator("dialog").getByText("100.00").waitFor();
      await wallet.field("Amount").fill("20");
      await wallet.button("Sign and deposit").click();
      await wallet.reach(wallet.button("Done"));
      await wallet.button("Done").click();
      await wallet.hasSpendable("20.00");
    }),
  );

  it(
    "asks before it pays, and pays with a real proof from its worker",
    during(async () => {
      await wallet.ask(`${resourceServer.url}/article`);
      const dialog = wallet.page.locator("dialog");
      for (const shown of ["0.012345 USDC", new URL(resourceServer.url).host, "0.02 USDC", "0.05 USDC"])
        expect(await dialog.textContent()).to.include(shown);
      expect(await resourceServer.received()).to.equal(0n);
      await wallet.agree();
      expect(await wallet.delivered()).to.equal("sold /article");
      expect(await resourceServer.received()).to.equal(PRICE);
      await wallet.button("Done").click();
      await wallet.hasSpendable("19.987655");
      expect(
        wallet.said.filter((line) => !line.includes("402")),
        wallet.said.join("\n"),
      ).to.deep.equal([]);
    }),
  );

  for (const { name, route, prepare } of PICTURES)
    it(
      `has the layout of docs/images/${name}-light.png; if it was changed: npm run screenshots`,
      during(async () => {
        await wallet.page.setViewportSize(VIEWPORT);
        await wallet.go(route);
        await prepare(wallet.page, formatViewingKeys(resourceServer.keys, world));
        const expected: LayoutElement[] = JSON.parse(readFileSync(join(IMAGES, `${name}.json`), "utf8"));
        const shown = await readLayout(wallet.page);
        const textOf = ({ kind, text }: LayoutElement) => `${kind} ${text}`;
        expect(shown.map(textOf)).to.deep.equal(expected.map(textOf));
        // Texts of different lengths move neighbouring elements by up to one column.
        const moved = shown.filter(({ column }, index) => Math.abs(column - expected[index]!.column) > 1);
        expect(moved).to.deep.equal([]);
        await wallet.page.setViewportSize({ width: 1280, height: 900 });
      }),
    );

  it(
    "resumes a payment that was interrupted by closing the page, and pays once",
    during(async () => {
      await wallet.ask(`${resourceServer.url}/chapter/2`);
      // The service settles it, but the page never receives the response.
      const settled = new Promise<void>((resolve, reject) => {
        void context.route("**/zk/settle", async (route) => {
          await route.fetch({ timeout: STEP_MS }).then(() => resolve(), reject);
        });
      });
      await wallet.agree();
      await settled;
      await context.unroute("**/zk/settle");
      await wallet.page.reload();
      await wallet.field("Passphrase").fill(PASSPHRASE);
      await wallet.button("Unlock").click();
      expect(await wallet.delivered()).to.equal("sold /chapter/2");
      expect(await resourceServer.received()).to.equal(2n * PRICE);
      await wallet.button("Done").click();
    }),
  );

  it(
    "pays a phone number that was linked to a wallet",
    during(async () => {
      await wallet.go("/wallet/receive");
      await wallet.page.getByText("Be paid by phone number").click();
      await wallet.field("Your phone number").fill(PHONE);
      await wallet.button("Sign and send the code").click();
      const code = wallet.field(`Code sent to ${PHONE}`);
      await code.waitFor();
      await code.fill(sentCodes(codeFile).at(-1)?.code ?? "");
      await wallet.button("Confirm the code").click();
      await wallet.page.getByText("leads to this wallet now").waitFor();
      await wallet.go("/wallet/phone");
      await wallet.field("Phone number").fill(PHONE);
      await wallet.field("Amount").fill("0.01");
      await wallet.button("Continue").click();
      await wallet.button(/^Pay/).click();
      expect(await wallet.delivered()).to.include(PHONE);
    }),
  );

  it(
    "pays a phone number once if the user stops waiting and pays again",
    during(async () => {
      let arrived = () => {};
      const settling = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      await context.route("**/zk/settle", async (route) => {
        await route.fetch();
        // The page receives no response: after an error it would ask again, and find the payment settled.
        arrived();
      });
      await wallet.go("/wallet");
      // Closes the dialog of the test before.
      await wallet.page.getByRole("dialog").waitFor({ state: "hidden" });
      await wallet.go("/wallet/phone");
      await wallet.field("Phone number").fill(PHONE);
      await wallet.field("Amount").fill("0.001");
      await wallet.button("Continue").click();
      await wallet.button(/^Pay/).click();
      await settling;
      await wallet.button("Stop waiting").click();
      await context.unroute("**/zk/settle");
      await wallet.button(/^Pay/).click();
      expect(await wallet.delivered()).to.include(PHONE);
      await historyOf();
      const shown = await wallet.page.locator("main").textContent();
      expect(shown?.split("\u22120.001 USDC")).to.have.lengthOf(2);
    }),
  );

  it(
    "refuses to pay above its limits, and pays after the user raised them",
    during(async () => {
      await wallet.go("/wallet/settings");
      await wallet.field("Per payment").fill("0.01");
      await wallet.button("Save limits").click();
      await wallet.page.getByText("Saved.").waitFor();
      await wallet.ask(`${resourceServer.url}/chapter/3`);
      expect(await wallet.page.getByTestId("confirm").isDisabled()).to.equal(true);
      await wallet.go("/wallet/settings");
      await wallet.field("Per payment").fill("0.02");
      await wallet.button("Save limits").click();
      await wallet.page.getByText("Saved.").waitFor();
      await wallet.ask(`${resourceServer.url}/chapter/3`);
      await wallet.agree();
      expect(await wallet.delivered()).to.equal("sold /chapter/3");
      // 0.047035 of the daily limit of 0.05 USDC is spent.
      await wallet.ask(`${resourceServer.url}/chapter/4`);
      expect(await wallet.page.getByTestId("confirm").isDisabled()).to.equal(true);
      expect(await resourceServer.received()).to.equal(3n * PRICE);
    }),
  );

  it(
    "withdraws once if the user stops waiting, withdraws again and resumes",
    during(async () => {
      const { address } = Account.createRandom();
      let arrived = () => {};
      const submitting = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      // The request does not reach the service, and the page receives no response.
      await context.route("**/zk/withdraw", () => arrived());
      await wallet.hasArrived();
      await wallet.go("/wallet/withdraw");
      await wallet.field("To the account").fill(address);
      await wallet.field("Amount").fill("1.5");
      await wallet.button("Withdraw").click();
      await submitting;
      await wallet.button("Stop waiting").click();
      await wallet.page.getByText("is unfinished. Withdrawing the same amount").waitFor();
      await context.unroute("**/zk/withdraw");
      await context.route("**/zk/withdraw", (route) => route.abort());
      await wallet.button("Withdraw").click();
      await wallet.page.getByText("Resuming the withdrawal that was started before").waitFor();
      await wallet.showsError("SERVICE_UNREACHABLE");
      await context.unroute("**/zk/withdraw");
      await wallet.go("/wallet");
      await wallet.button("Resume").click();
      await wallet.reach(wallet.button("Done"));
      expect(await wallet.page.locator("dialog").textContent()).to.include("It was started before, and executed once.");
      await wallet.button("Done").click();
      expect(await token.getFunction("balanceOf")(address)).to.equal(1_500_000n);
    }),
  );

  it(
    "automatically resumes a withdrawal that was interrupted by closing the page",
    during(async () => {
      const { address } = Account.createRandom();
      let arrived = () => {};
      const submitting = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      await context.route("**/zk/withdraw", () => arrived());
      await wallet.hasArrived();
      await wallet.go("/wallet/withdraw");
      await wallet.field("To the account").fill(address);
      await wallet.field("Amount").fill("0.5");
      await wallet.button("Withdraw").click();
      await submitting;
      await context.unroute("**/zk/withdraw");
      await wallet.page.reload();
      await wallet.unlock();
      await eventually(async () => (await token.getFunction("balanceOf")(address)) === 500_000n);
      await wallet.go("/wallet");
      await wallet.page.getByText("Unfinished withdrawals").waitFor({ state: "detached" });
    }),
  );

  it(
    "lists everything that happened, with search and CSV",
    during(async () => {
      expect(await historyOf()).to.deep.equal([
        ...["Deposit", "Paid", "Paid", "Paid", "Paid", "Paid", "Received", "Received", "Withdrawal", "Withdrawal"],
      ]);
      await wallet.page.getByLabel("Search the history").fill("chapter/2");
      await wallet.page.getByText("chapter/3").waitFor({ state: "detached" });
      expect(await wallet.page.locator(".entry").count()).to.equal(1);
      const saved = wallet.page.waitForEvent("download");
      await wallet.button("Payments as CSV").click();
      const csv = readFileSync(await (await saved).path(), "utf8");
      expect(csv.split("\r\n")).to.have.lengthOf(9);
      expect(csv).to.include("/chapter/3");
    }),
  );

  it(
    "is accessible, and fits screens from 360 px to 4K, in light and dark",
    during(async () => {
      const { page } = wallet;
      const pay = `/wallet/pay?url=${encodeURIComponent(`${resourceServer.url}/chapter/5`)}`;
      const dialogs = [pay, "/wallet/add", "/wallet/receive", "/wallet/withdraw", "/wallet/phone"];
      for (const [width, height, colorScheme] of [
        [360, 740, "dark"],
        [1280, 900, "light"],
        [3840, 2160, "dark"],
      ] as const) {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme });
        for (const route of ["/wallet", "/wallet/history", "/wallet/settings", ...dialogs]) {
          await wallet.go(route);
          if (dialogs.includes(route)) await page.locator("dialog[open]").waitFor();
          if (route === pay) await page.getByTestId("confirm").waitFor();
          await assertAccessible(page, `${route}, ${width} px, ${colorScheme}`);
          await assertFits(page, `${route}, ${width} px`);
        }
      }
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.emulateMedia({ colorScheme: "light" });
    }),
  );

  it(
    "buys a pack of prepaid tokens with one payment, spends one, and still has the others after a reload",
    during(async () => {
      const merchant = await openPrepaidMerchant(world, TOKEN_VALUE);
      const selling = await PrepaidServer.open(merchant, 0, { origins: "*" });
      try {
        const url = `${selling.url}/forecast`;
        const tokens = wallet.page.getByRole("region", { name: "Prepaid tokens" });
        const left = (count: number) => tokens.getByText(`${count} left`).waitFor();
        await wallet.ask(url);
        await wallet.button("Buy tokens").click();
        await wallet.reach(wallet.button("Done").or(wallet.page.locator("[data-code]")));
        expect(await wallet.errors()).to.deep.equal([]);
        expect(await wallet.page.locator("dialog").textContent()).to.include("Tokens bought at");
        await wallet.button("Done").click();
        await left(100);
        await wallet.ask(url);
        await wallet.agree();
        expect(await wallet.delivered()).to.equal("sold /forecast");
        expect(await wallet.page.locator("dialog").textContent()).to.include("with a prepaid token");
        await wallet.button("Done").click();
        await left(99);
        await wallet.page.reload();
        await wallet.unlock();
        await left(99);
        await wallet.ask(url);
        await wallet.agree();
        expect(await wallet.delivered()).to.equal("sold /forecast");
        await wallet.button("Done").click();
        await left(98);
        expect(await merchant.received()).to.equal(100n * TOKEN_VALUE);
        expect(selling.events.filter(({ event }) => event === "redeemed")).to.have.lengthOf(2);
      } finally {
        await selling.close();
      }
    }),
  );

  it(
    "deposits from other Ethereum wallets of the browser: of a key and of a contract account",
    during(async () => {
      const key = Account.createRandom();
      const accounts = [{ from: key.address, depositor: key }, await ownersWallet(world)];
      await wallet.page.exposeFunction("signTypedData", (from: string, typedData: string) => {
        const { domain, types, message } = JSON.parse(typedData);
        delete types.EIP712Domain;
        return accounts.find((each) => each.from === from)!.depositor.signTypedData(domain, types, message);
      });
      for (const [index, { from }] of accounts.entries()) {
        await (await token.getFunction("mint")(from, 3_000_000n)).wait();
        await wallet.page.evaluate(announceWallet, { from, name: `Test Wallet ${index}` });
        await wallet.go("/wallet/add");
        await wallet.field(`Test Wallet ${index}`).check();
        await wallet.field("Amount").fill("3");
        await wallet.button("Sign and deposit").click();
        await wallet.reach(wallet.button("Done"));
        await wallet.button("Done").click();
        expect(await token.getFunction("balanceOf")(from)).to.equal(0n);
      }
    }),
  );

  it(
    "lets one tab use the wallet at a time",
    during(async () => {
      const second = await openTab();
      await second.go("/wallet");
      await second.page.getByText("The wallet is open in another tab").waitFor();
      await second.button("Use it in this tab").click();
      await second.unlock();
      await wallet.page.getByText("The wallet is open in another tab").waitFor();
      await second.page.close();
      await wallet.unlock();
    }),
  );

  it(
    "reports that no node answers, and continues when one does",
    during(async () => {
      node.down = true;
      await wallet.showsError("NODE_UNREACHABLE");
      node.down = false;
      await wallet.page.locator("[data-code]").waitFor({ state: "detached" });
    }),
  );

  it(
    "rereads blocks that the chain replaced, and reports that",
    during(async () => {
      const { provider } = world;
      const snapshot = await provider.send("evm_snapshot", []);
      await provider.send("hardhat_mine", ["0x2"]);
      const height = await provider.getBlockNumber();
      await wallet.page.locator(".network", { hasText: `block ${height}` }).waitFor();
      await provider.send("evm_revert", [snapshot]);
      // Otherwise the new blocks could have the same hashes as the old ones.
      await provider.send("hardhat_setCoinbase", [Account.createRandom().address]);
      await provider.send("hardhat_mine", ["0x3"]);
      await wallet.page.getByText("The chain replaced blocks").waitFor();
    }),
  );

  it(
    "restores a backup with its history, after the wallet was removed",
    during(async () => {
      const before = await historyOf();
      await wallet.go("/wallet/settings");
      await wallet.button("Make a backup").click();
      await wallet.field("Passphrase").fill(PASSPHRASE);
      const saved = wallet.page.waitForEvent("download");
      await wallet.button("Save the backup").click();
      backup = readFileSync(await (await saved).path(), "utf8");
      expect(backup).not.to.include("chapter");
      await removeWallet();
      await wallet.button("Restore from a backup file").click();
      await wallet
        .field("Backup file")
        .setInputFiles({ name: "b.json", mimeType: "application/json", buffer: Buffer.from(backup) });
      await wallet.field("Passphrase").fill(PASSPHRASE);
      await wallet.button("Restore").click();
      await wallet.page.getByRole("link", { name: "History" }).waitFor();
      expect(await historyOf()).to.deep.equal(before);
    }),
  );

  it(
    "restores the balance from 24 words, and does not pay if the browser has no room to record the payment",
    during(async () => {
      await wallet.go("/wallet");
      const balance = await wallet.page.getByTestId("spendable").textContent();
      const other = await browser.browser.newContext();
      const restored = new WalletPage(await other.newPage(), host.url);
      // The storage is also too small for the circuits' files, so the prover works without its cache.
      const session = await other.newCDPSession(restored.page);
      await session.send("Storage.overrideQuotaForOrigin", { origin: host.url, quotaSize: 3_000_000 });
      await restored.go("/wallet");
      await restored.button("Restore from 24 words").click();
      await restored.field("Words").fill(words);
      await restored.button("Continue").click();
      await restored.choosePassphrase();
      expect(await restored.page.getByTestId("spendable").textContent()).to.equal(balance);
      const paid = await resourceServer.received();
      await restored.page.evaluate(fillStorage);
      await restored.ask(`${resourceServer.url}/full`);
      await restored.agree();
      expect(await restored.delivered()).to.equal("STORE_FULL");
      expect(await resourceServer.received()).to.equal(paid);
      await session.send("Storage.overrideQuotaForOrigin", { origin: host.url });
      await restored.button("Try again").click();
      await restored.reach(restored.page.getByTestId("delivery"));
      expect(await restored.delivered()).to.equal("sold /full");
      expect(await resourceServer.received()).to.equal(paid + PRICE);
      await other.close();
    }),
  );

  it(
    "asks for pool, service and node if its host does not name them",
    during(async () => {
      const { config } = host;
      const { deployment, service, nodes } = configFor(world);
      host.config = undefined;
      const other = await browser.browser.newContext();
      const page = new WalletPage(await other.newPage(), host.url);
      await page.go("/wallet");
      await page.field("Service").fill("https://pay.example/zk");
      await page.field("Node (JSON-RPC)").fill("http://node.example");
      await page.field("Deployment manifest").fill("{}");
      await page.button("Connect").click();
      await page.showsError("HOST_CONFIG_INVALID");
      await page.field("Service").fill(service);
      await page.field("Node (JSON-RPC)").fill(nodes[0] ?? "");
      await page.field("Deployment manifest").fill(JSON.stringify(deployment));
      await page.button("Connect").click();
      await page.create();
      await other.close();
      host.config = config;
    }),
  );

  it(
    "offers to start over if the chain was restarted while the page was open",
    during(async () => {
      replacement = await startDeployedNode();
      node.target = replacement.url;
      await wallet.showsError("CHAIN_REPLACED");
      await wallet.button("Start fresh").click();
      await wallet.hasSpendable("0.00");
    }),
  );

  async function removeWallet(): Promise<void> {
    await wallet.go("/wallet/settings");
    await wallet.button("Remove the wallet").click();
    await wallet.field("Passphrase").fill(PASSPHRASE);
    await wallet.button("Remove it from this browser").click();
    await wallet.button("Create a wallet").waitFor();
  }

  it(
    "cannot be controlled by the page that opened it",
    during(async () => {
      const page = await context.newPage();
      await page.goto(`${resourceServer.url}/article`);
      const opening = context.waitForEvent("page");
      const opened = await page.evaluateHandle((url) => globalThis.open(url), host.url);
      await (await opening).waitForLoadState();
      expect(await opened.evaluate((other) => other?.closed)).to.equal(true);
    }),
  );
});

/** Runs in the page: returns the content of all its IndexedDB databases as text. */
async function dumpDatabases(): Promise<string> {
  const result = <T>(request: IDBRequest<T>) =>
    new Promise<T>((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const texts: string[] = [];
  for (const { name = "" } of await indexedDB.databases()) {
    const database = await result(indexedDB.open(name));
    for (const store of database.objectStoreNames)
      texts.push(JSON.stringify(await result(database.transaction(store).objectStore(store).getAll())));
    database.close();
  }
  return texts.join("\n");
}

/** Runs in the page: announces an Ethereum wallet (EIP-6963) whose account signs in the test. */
function announceWallet({ from, name }: { from: string; name: string }): void {
  const sign = (globalThis as unknown as { signTypedData(from: string, typedData: string): Promise<string> })
    .signTypedData;
  const provider = {
    request: async ({ method, params }: { method: string; params: string[] }) => {
      if (method === "eth_requestAccounts") return [from];
      if (method === "eth_signTypedData_v4") return sign(from, params[1] ?? "");
      throw new Error(`unexpected ${method}`);
    },
  };
  const icon = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>";
  const info = { uuid: crypto.randomUUID(), name, icon, rdns: `org.example.${name.replaceAll(" ", "")}` };
  const announce = () =>
    dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: Object.freeze({ info, provider }) }));
  addEventListener("eip6963:requestProvider", announce);
  announce();
}
