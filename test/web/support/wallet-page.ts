// The wallet page, operated as a user would.
import { expect } from "chai";
import type { Locator, Page } from "playwright-core";

export const PASSPHRASE = "correct horse battery";
/** Limit for one stage, ms. It can be a download and a proof: on two busy cores, which other suites share, one took 35 s. */
const STAGE_MS = 120_000;

export class WalletPage {
  readonly page: Page;
  /** Console output of the page. */
  readonly said: string[] = [];
  readonly #url: string;

  /** @param url the URL of the host */
  constructor(page: Page, url: string) {
    this.page = page;
    this.#url = url;
    page.on("console", (message) => void this.said.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => void this.said.push(`error: ${error.message}`));
  }

  /** @param route for example "/wallet/history" */
  async go(route: string): Promise<void> {
    await this.page.goto(`${this.#url}/#${route}`);
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole("button", { name, exact: true });
  }

  field(label: string): Locator {
    return this.page.getByLabel(label, { exact: true });
  }

  /** Waits for an error with this code. */
  async showsError(code: string): Promise<void> {
    await this.page.locator(`[data-code="${code}"]`).first().waitFor();
  }

  /** The codes of all errors in view. */
  errors(): Promise<(string | null)[]> {
    return this.page.locator("[data-code]").evaluateAll((found) => found.map((each) => each.getAttribute("data-code")));
  }

  /** Waits until the spendable balance is this text, for example "20.00". */
  async hasSpendable(amount: string): Promise<void> {
    await this.page
      .getByTestId("spendable")
      .filter({ hasText: new RegExp(`^${amount.replaceAll(".", "\\.")} USDC$`) })
      .waitFor();
  }

  /** Waits on the wallet's page until no funds are arriving: change of the last payment or withdrawal takes up to a second. */
  async hasArrived(): Promise<void> {
    await this.go("/wallet");
    await this.page.getByTestId("arriving").getByText("All of it is spendable.").waitFor();
  }

  /** Creates a wallet, and types the words that the page asks for. @returns the words */
  async create(): Promise<string> {
    await this.button("Create a wallet").click();
    await this.page.locator(".words li").first().waitFor();
    const words = await this.page.locator(".words li").allTextContents();
    await this.button("I have written them down").click();
    await this.answerWords(words);
    await this.button("Continue").click();
    await this.choosePassphrase();
    return words.join(" ");
  }

  /** Types the words that the page asks for. @param words the 24 words */
  async answerWords(words: readonly string[]): Promise<void> {
    const labels = await this.page.locator("label", { hasText: /^Word \d+$/ }).allTextContents();
    expect(labels).to.have.lengthOf(3);
    for (const label of labels) await this.field(label).fill(words[Number(label.slice("Word ".length)) - 1] ?? "");
  }

  async choosePassphrase(): Promise<void> {
    await this.field("Passphrase").fill(PASSPHRASE);
    await this.field("The same passphrase again").fill(PASSPHRASE);
    await this.button("Open the wallet").click();
    await this.page.getByTestId("spendable").waitFor();
  }

  async unlock(): Promise<void> {
    await this.field("Passphrase").fill(PASSPHRASE);
    await this.button("Unlock").click();
    await this.page.getByTestId("spendable").waitFor();
  }

  /** Asks for the price of a URL, and waits until it is shown. */
  async ask(url: string): Promise<void> {
    await this.go(`/wallet/pay?url=${encodeURIComponent(url)}`);
    await this.page.getByTestId("confirm").waitFor();
  }

  /** Accepts the shown price. */
  async agree(): Promise<void> {
    await this.page.getByTestId("confirm").click();
  }

  /** Waits until `end` is in view; each stage has its own limit. The download in a stage is not one. */
  async reach(end: Locator): Promise<void> {
    const stages = this.page.locator(".stages li[data-state]");
    for (let seen = 0; (await end.count()) === 0; seen = await stages.count())
      await stages.nth(seen).or(end.first()).first().waitFor({ timeout: STAGE_MS });
  }

  /** The text that the merchant delivered, or the codes of the errors. */
  async delivered(): Promise<string> {
    const delivery = this.page.getByTestId("delivery").locator("pre");
    await this.reach(delivery.or(this.page.locator("[data-code]")));
    return ((await delivery.count()) > 0 ? await delivery.textContent() : null) ?? (await this.errors()).join(", ");
  }
}
