// Pays in a browser for an article of `npm run dev` of sotto's checkout. It uses the installed Chrome; CHROMIUM names the path
// of another browser.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Browser, chromium, type Page } from "playwright-core";
import { type PreviewServer, preview } from "vite";

/** Downloads and three proofs, on a slow machine. */
const timeout = 120_000;
let server: PreviewServer;
let browser: Browser;
let page: Page;
const violations: string[] = [];

before(async () => {
  server = await preview({ preview: { port: 0, strictPort: false } });
  const path = process.env["CHROMIUM"];
  browser = await chromium.launch(path === undefined ? { channel: "chrome" } : { executablePath: path });
  page = await browser.newPage();
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) violations.push(message.text());
  });
  await page.goto(server.resolvedUrls?.local[0] ?? "");
});
after(async () => {
  await browser?.close();
  await server?.close();
});

test("pays, and shows the article and who learned what", { timeout }, async () => {
  await page.getByRole("button").click();
  await page.getByText("You paid 0.05 USDC.").waitFor({ timeout });
  assert.match((await page.getByRole("article").textContent()) ?? "", /^Article 1\./);
});

test("finds the wallet again after a reload", { timeout }, async () => {
  await page.reload();
  await page.getByRole("button").click();
  await page.getByText("9.9 USDC are left.").waitFor({ timeout });
});

test("runs no other script and loads nothing from elsewhere", async () => {
  assert.deepEqual(violations, []);
  const run = page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "document.title = 'changed'";
    document.head.append(script);
    return document.title;
  });
  assert.equal(await run, "Pay for an article");
});
