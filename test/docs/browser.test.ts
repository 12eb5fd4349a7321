// Pages of the documentation site in a real browser.

import { assertAccessible, assertFits } from "@sotto/test-browser/accessible";
import { launchChromium } from "@sotto/test-browser/chromium";
import type { TestBrowser } from "@sotto/test-browser/test-browser";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { type Server, serveSite } from "../../docs/site/serve.ts";

/** The first port to try. */
const PORT = 4530;
const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 360, height: 740 };

describe("the documentation site in a browser", function () {
  slow(this, "a browser");
  let server: Server;
  let browser: TestBrowser;
  let page: Page;
  let problems: string[];
  before(async () => {
    server = await serveSite(PORT);
    browser = await launchChromium();
    // Without a locale setting, Chromium reports one that Intl rejects.
    page = await browser.newPage({ viewport: WIDE, locale: "en-US", colorScheme: "light" });
    page.on("console", (message) => {
      if (message.type() === "error") problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(server.url) && !url.startsWith("data:")) problems.push(`requested ${url}`);
    });
  });
  beforeEach(async () => {
    problems = [];
    await page.emulateMedia({ colorScheme: "light" });
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  const visit = async (path: string) => {
    await page.goto(new URL(path, server.url).href);
    // The app has taken over the page that the build rendered.
    await page.waitForFunction(() => "__vue_app__" in document.querySelector("#app")!);
  };
  const heading = () => page.locator("h1").first().textContent();

  for (const [path, title] of [
    ["index.html", "sotto"],
    ["tour.html", "A private payment in five minutes"],
    ["errors.html", "Errors"],
    ["openapi.html", "Endpoints of the service"],
    ["reference/protocol.html", "@sotto/protocol"],
  ] as const)
    it(`${path} renders without an error, and fits a phone screen`, () =>
      browser.during(async () => {
        await visit(path);
        expect(await heading()).to.include(title);
        await page.setViewportSize(NARROW);
        await assertFits(page, path);
        await page.setViewportSize(WIDE);
        expect(problems).to.deep.equal([]);
      }));

  for (const scheme of ["light", "dark"] as const)
    it(`the first page, a guide and a reference are accessible in ${scheme}`, () =>
      browser.during(async () => {
        await page.emulateMedia({ colorScheme: scheme });
        for (const path of ["index.html", "resource-server.html", "reference/wallet/node.html"]) {
          await visit(path);
          await assertAccessible(page, `${path} in ${scheme}`);
        }
      }));

  it("renders the documents' diagrams, and shows the pictures that match its theme", () =>
    browser.during(async () => {
      for (const [path, text] of [
        ["overview.html", "prove the payment"],
        ["architecture.html", "phone-registry"],
        ["operations-run.html", "broadcast"],
        ["protocol.html", "Payer"],
      ] as const) {
        await visit(path);
        await page.locator(".diagram svg", { hasText: text }).waitFor();
      }
      await visit("tour.html");
      const shown = (theme: string) =>
        page
          .locator(`img.${theme}-only`)
          .evaluateAll((images) => images.filter((image) => getComputedStyle(image).display !== "none").length);
      const all = await page.locator("img.light-only").count();
      expect(all).to.be.greaterThan(0);
      expect([await shown("light"), await shown("dark")]).to.deep.equal([all, 0]);
      const appearance = page.locator(".VPNavBarAppearance button");
      await appearance.click();
      expect([await shown("light"), await shown("dark")]).to.deep.equal([0, all]);
      await appearance.click();
      expect(problems).to.deep.equal([]);
    }));

  it("finds an error code and a function with the search, and follows an error code's anchor", () =>
    browser.during(async () => {
      await visit("tour.html");
      for (const [query, path] of [
        ["INSUFFICIENT_FUNDS", "/errors.html"],
        ["wrapFetch", "/reference/client.html#wrapFetch"],
      ] as const) {
        await page.locator(".VPNavBarSearch button").click();
        await page.locator("#localsearch-input").fill(query);
        await page.locator(`.VPLocalSearchBox a[href^="${path}"]`).first().waitFor();
        await page.keyboard.press("Escape");
      }
      await visit("errors.html#insufficient_funds");
      expect(
        await page.locator("#insufficient_funds").evaluate((element) => element.getBoundingClientRect().top),
      ).to.be.within(0, WIDE.height);
      expect(problems).to.deep.equal([]);
    }));
});
