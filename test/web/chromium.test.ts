// The Chromium of these tests paints text on any machine, and its crashes are reported as crashes.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { launchChromium } from "@sotto/test-browser/chromium";
import { unpackChromium } from "@sotto/test-browser/npm-chromium";
import { assertPainted } from "@sotto/test-browser/painted";
import { STEP_MS, TestBrowser } from "@sotto/test-browser/test-browser";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import type { Page } from "playwright-core";

const messageOf = (steps: Promise<unknown>): Promise<string> =>
  steps.then(
    () => expect.fail("nothing was thrown"),
    (error: Error) => error.message,
  );

describe("the Chromium of the page test", function () {
  slow(this, "a browser, a chain and proofs");
  let chromium: TestBrowser;
  let page: Page;
  beforeEach(async () => {
    chromium = await launchChromium();
    page = await chromium.newPage();
  });
  afterEach(() => chromium?.close());

  it("loads its fonts from existing folders, no matter where it is unpacked", async () => {
    const { FONTCONFIG_FILE: config = "" } = (await unpackChromium()).environment;
    const folders = [...readFileSync(config, "utf8").matchAll(/<dir([^>]*)>([^<]*)<\/dir>/g)];
    expect(folders).to.have.lengthOf(1);
    for (const [, options, folder = ""] of folders) {
      expect(options).to.equal(' prefix="relative"');
      const files = readdirSync(join(dirname(config), folder), { recursive: true, encoding: "utf8" });
      expect(files.filter((name) => name.endsWith(".ttf"))).to.not.deep.equal([]);
    }
  });

  it("accepts painted text, and rejects text without a size or without a pixel", async () => {
    const show = (style: string) => page.setContent(`<p style="${style}">some text</p>`);
    await show("color: black");
    await assertPainted(page, "p");
    await show("font-size: 0");
    expect(await messageOf(assertPainted(page, "p"))).to.match(/^p is \d+ x 0 pixels: Chromium paints no text/);
    await show("color: transparent");
    expect(await messageOf(assertPainted(page, "p"))).to.match(/^p looks the same .*: Chromium paints no text/);
  });

  it("fails a step after 30 s, before the test's timeout", async () => {
    expect(STEP_MS).to.equal(30_000);
    const hasty = await chromium.newPage({}, 10);
    expect(await messageOf(hasty.locator("#missing").waitFor())).to.contain("Timeout 10ms exceeded");
  });

  it("reports a browser crash while a test waits, with the end of its standard error", async () => {
    const waiting = messageOf(chromium.during(() => page.locator("#missing").waitFor()));
    const session = await chromium.browser.newBrowserCDPSession();
    session.send("Browser.crash").catch(() => {});
    expect(await waiting).to.match(/^Chromium crashed: its process ended; .*\n.*\S/);
  });

  it("reports a crash of a page's process, both while a test waits and afterwards", async () => {
    const waiting = messageOf(chromium.during(() => page.locator("#missing").waitFor()));
    const session = await page.context().newCDPSession(page);
    session.send("Page.crash").catch(() => {});
    expect(await waiting).to.match(/^Chromium crashed: the process of a page ended; /);
    expect(await messageOf(chromium.during(async () => {}))).to.match(/^Chromium crashed: /);
  });

  it("reports why Chromium does not start", async () => {
    const message = await messageOf(TestBrowser.launch("/nowhere/chromium", {}));
    expect(message).to.match(/^Chromium \(\/nowhere\/chromium\) did not start; .*\n.*not found/);
  });

  it("stops the tests on SIGTERM", async () => {
    const url = JSON.stringify(import.meta.resolve("@sotto/test-browser/chromium"));
    const script = `const { launchChromium } = await import(${url}); await launchChromium(); console.log("ready");`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", `${script} setInterval(() => {}, 1000);`], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      const ended = once(child, "exit");
      await once(child.stdout, "data");
      child.kill("SIGTERM");
      expect(await ended).to.deep.equal([null, "SIGTERM"]);
    } finally {
      child.kill("SIGKILL");
    }
  });

  it("rethrows other errors unchanged", async () => {
    expect(await messageOf(chromium.during(() => Promise.reject(new Error("another reason"))))).to.equal(
      "another reason",
    );
  });
});
