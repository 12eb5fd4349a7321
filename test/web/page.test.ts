// The 402 page that a person sees: a resource server's page in a real browser, on a phone screen and a desktop screen.
// Also tests a script of another origin that reads the same 402.

import { parseInstructions } from "@sotto/protocol";
import { launchChromium } from "@sotto/test-browser/chromium";
import { assertPainted } from "@sotto/test-browser/painted";
import type { TestBrowser } from "@sotto/test-browser/test-browser";
import { slow } from "@sotto/test-kit/slow";
import { openResourceServer, type ResourceServer } from "@sotto/test-world/resource-server";
import { closeWorld, openWorld } from "@sotto/test-world/wallets";
import { expect } from "chai";

const NAME = `<script>document.title = "owned"</script>'"&amp;`;
const LONG = "a".repeat(600);

describe("the page of a 402 in Chromium", function () {
  slow(this, "a browser, a chain and proofs");
  let server: ResourceServer;
  let browser: TestBrowser;
  before(async () => {
    browser = await launchChromium();
    server = await openResourceServer(await openWorld(), "0.012345", { wallet: "https://wallet.example", name: NAME });
  });
  after(async () => {
    await browser?.close();
    await server?.close();
    await closeWorld();
  });

  for (const { width, colorScheme } of [
    { width: 360, colorScheme: "dark" },
    { width: 1280, colorScheme: "light" },
  ] as const)
    it(`fits ${width} px, is ${colorScheme}, runs no script and works with a screen reader`, () =>
      browser.during(async () => {
        const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme });
        const said: string[] = [];
        page.on("console", (message) => void said.push(message.text()));
        const url = `${server.url}/report/${LONG}?lang=en`;
        const response = await page.goto(url);
        expect(response?.status()).to.equal(402);
        await assertPainted(page, "h1 strong");
        const role = (name: Parameters<typeof page.getByRole>[0], options = {}) =>
          page.getByRole(name, options).count();
        expect([await role("banner"), await role("main"), await role("contentinfo")]).to.deep.equal([1, 1, 1]);
        expect(await role("heading", { level: 1, name: "This page costs 0.012345 USDC" })).to.equal(1);
        const levels = await page.locator("h1, h2, h3").evaluateAll((all) => all.map(({ tagName }) => tagName));
        expect(levels.join(" ")).to.equal("H1 H2 H3 H3 H3 H2");
        const link = page.getByRole("link", { name: "Open in wallet" });
        expect(await link.getAttribute("href")).to.equal(
          `https://wallet.example/#/wallet/pay?url=${encodeURIComponent(url)}`,
        );
        expect(await page.locator(".merchant").textContent()).to.equal(NAME);
        expect(await page.title()).to.equal("Payment required: 0.012345 USDC");
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).to.equal(width);
        const background = await page.locator(".card").evaluate((card) => getComputedStyle(card).backgroundColor);
        expect(background).to.equal(colorScheme === "dark" ? "rgb(25, 28, 39)" : "rgb(255, 255, 255)");
        const text = await page.locator("#payment-instructions").textContent();
        expect(parseInstructions(JSON.parse(text ?? "")).metadata.resource).to.equal(url);
        // The browser logs the status; it would also log a violation of the content policy.
        expect(said.filter((line) => !line.includes("402"))).to.deep.equal([]);
        await page.close();
      }));

  it("is JSON for a script of another origin, and its preflight needs no payment", () =>
    browser.during(async () => {
      const page = await browser.newPage();
      // A different origin from the resource server's, because the host differs.
      await page.goto(`${server.url.replace("127.0.0.1", "localhost")}/health`);
      const found = await page.evaluate(async (url) => {
        const read = async (headers: Record<string, string>) => {
          const response = await fetch(url, { headers });
          return [response.status, response.headers.get("www-authenticate"), ((await response.json()) as object) ?? {}];
        };
        return [await read({}), await read({ "X-Payment-Proof": "{}" })] as const;
      }, `${server.url}/report`);
      const [asked, refused] = found;
      expect([asked[0], asked[1]]).to.deep.equal([402, "x402-zk"]);
      expect(parseInstructions(asked[2]).metadata.resource).to.equal(`${server.url}/report`);
      expect(refused).to.deep.equal([
        402,
        null,
        { error: "Invalid payment proof", message: "ZK proof verification failed" },
      ]);
      await page.close();
    }));
});
