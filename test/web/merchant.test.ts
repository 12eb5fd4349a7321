// The merchant page with the keys of months, in a real browser with a real chain.

import { readFileSync } from "node:fs";
import { addMonths, formatViewingKeys, type Month, monthAt } from "@sotto/protocol";
import { assertLayouts } from "@sotto/test-browser/accessible";
import { launchChromium } from "@sotto/test-browser/chromium";
import { STEP_MS, type TestBrowser } from "@sotto/test-browser/test-browser";
import { slow } from "@sotto/test-kit/slow";
import { closeWorld, openWallet, openWorld, payerWith, type World } from "@sotto/test-world/wallets";
import { sendCall, settleCall, type Wallet } from "@sotto/wallet";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { figure } from "./support/figure.ts";
import { type Host, openHost } from "./support/host.ts";

describe("the merchant page with keys of months", function () {
  slow(this, "a browser, a chain and proofs");
  let world: World;
  let merchant: Wallet;
  let payer: Wallet;
  let host: Host;
  let browser: TestBrowser;
  let page: Page;
  /**
   * A month whose address is paid late, a month without payments, and this month. In the first hour of a month, a payment to the
   * last month's address is not late.
   */
  let months: [Month, Month, Month];

  before(async () => {
    browser = await launchChromium();
    world = await openWorld({ SOTTO_CORS_ORIGINS: "*" });
    merchant = await openWallet(world);
    const now = monthAt(Date.now());
    months = [addMonths(now, -2), addMonths(now, -1), now];
    payer = await payerWith(world, [1_000_000n, 1_000_000n, 1_000_000n]);
    const pay = async (shieldedAddress: string, amount: bigint) => {
      const recipient = { wallet: `0x${"ab".repeat(20)}`, shieldedAddress };
      const { settle } = await payer.pay({ recipient, amount, resourceUrl: "https://data.example/report" });
      await sendCall(world.depositor, settleCall(world.pool, [settle]));
    };
    await pay(merchant.addressOfMonth(months[2]), 70_000n);
    await pay(merchant.addressOfMonth(months[0]), 3_000n);
    await pay(merchant.shieldedAddress, 500n);
    host = await openHost({ chain: world.node.url, token: world.token });
    const { version, network, set, chainId, pool, token, deploymentBlock, smallestDeposit, contracts } = world;
    const deployment = { version, network, set, chainId, pool, token, deploymentBlock, smallestDeposit, contracts };
    host.config = {
      name: "Test chain",
      deployment: { ...deployment, verificationKeys: world.verificationKeys },
      nodes: [world.node.url],
      service: world.serviceUrl,
      merchants: [],
    };
    page = await browser.browser.newPage({ viewport: { width: 1280, height: 900 }, locale: "en-US" });
    page.setDefaultTimeout(STEP_MS);
  });
  after(async () => {
    await browser?.close();
    await host?.close();
    await closeWorld();
  });

  async function open(keys: Parameters<Wallet["viewingKeys"]>[0]): Promise<void> {
    await page.goto(`${host.url}/#/merchant`);
    const field = page.getByLabel("Viewing key", { exact: true });
    const close = page.getByRole("button", { name: "Close and forget the keys" });
    await field.or(close).waitFor();
    if (await close.isVisible()) await close.click();
    await field.fill(formatViewingKeys(merchant.viewingKeys(keys), world));
    await page.getByRole("button", { name: "Open", exact: true }).click();
  }
  const row = (name: string) => page.getByRole("table", { name: "Received by month" }).getByRole("row", { name });
  const payments = () => page.getByRole("list", { name: "Received, newest first" });
  /** The month of each exported payment. */
  async function exportedMonths(): Promise<(string | undefined)[]> {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export CSV" }).click(),
    ]);
    const [head, ...rows] = readFileSync(await download.path(), "utf8")
      .trim()
      .split("\r\n")
      .map((line) => line.split(","));
    return rows.map((row) => row[head!.indexOf("month")]);
  }

  it("shows the income of each month, and finds a payment outside the month of its address", () =>
    browser.during(async () => {
      await open({ months, lasting: true });
      await page.getByText(`Keys of ${months[0]} to ${months[2]} and the lasting address`).waitFor();
      await page.getByText("also those that settled outside the month of their address: 1.").waitFor();
      await figure(page, "Confirmed, all time", "0.0735").waitFor();
      expect(await row(months[2]).textContent()).to.include("0.07");
      expect(await row(months[0]).textContent()).to.include("0.003");
      expect(await row("Lasting address").textContent()).to.include("0.0005");
      await page.getByText(`Nothing was paid to the addresses of: ${months[1]}.`).waitFor();
      await payments().getByText(`Payment to ${months[0]}, found later`).waitFor();
      await assertLayouts(page, "the merchant page with months");
    }));

  it("says what it covers and what it cannot know", () =>
    browser.during(async () => {
      await page.getByText(`This page covers ${months[0]} to ${months[2]} and the lasting address.`).waitFor();
      await page.getByText("payments to addresses of other months, and to other wallets").waitFor();
      await page.getByText("whether payers were sent to an address whose key is missing here").waitFor();
    }));

  it("filters the payments by month, and exports the month of each", () =>
    browser.during(async () => {
      expect((await exportedMonths()).sort()).to.deep.equal(["", months[0], months[2]]);
      await page.getByLabel("Month", { exact: true }).selectOption(months[2]);
      expect(await payments().getByRole("listitem").count()).to.equal(1);
      expect(await exportedMonths()).to.deep.equal([months[2]]);
      await page.getByLabel("Month", { exact: true }).selectOption("Lasting address");
      await payments().getByText("0.0005").waitFor();
      await page.getByLabel("Month", { exact: true }).selectOption(months[1]);
      await page.getByText("No payment to this address yet.").waitFor();
    }));

  it("says which month's address a receipt's payment was paid to", () =>
    browser.during(async () => {
      await payer.scan();
      const { id } = (await payer.payments({ decimals: 6, direction: "out" })).find(
        ({ amount }) => amount === 70_000n,
      )!;
      const receipt = JSON.stringify(await payer.receipt(id, { showDeposit: true }));
      const check = async () => {
        await page.getByLabel("Receipt", { exact: true }).fill(receipt);
        await page.getByRole("button", { name: "Check the receipt" }).click();
      };
      await check();
      await page.getByText(`your address of ${months[2]}`).waitFor();
      await open({ months: [months[0]] });
      await check();
      await page.getByText("another address than those of your keys").waitFor();
    }));

  it("shows nothing of another month than that of its key", () =>
    browser.during(async () => {
      await open({ months: [months[0]] });
      await page.getByText("also those that settled outside the month of their address: 1.").waitFor();
      await figure(page, "Confirmed, all time", "0.003").waitFor();
      expect(await payments().getByRole("listitem").count()).to.equal(1);
      expect(await row("Lasting address").count()).to.equal(0);
      await page.getByText("to the lasting address, and to other wallets").waitFor();
      await open({ months: [months[1]] });
      await page.getByText("outside the month of their address: 0.").waitFor();
      await page.getByText("No payment yet.").waitFor();
    }));
});
