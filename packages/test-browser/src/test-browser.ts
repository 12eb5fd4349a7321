// Chromium, controlled by the tests. If it crashes, the tests fail with the end of its standard error.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

/** Limit for one step in the browser, ms: a click, a navigation, waiting for an element. */
export const STEP_MS = 30_000;
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  // Playwright enables the software rasterizer, but the Chromium from npm lacks its library.
  "--disable-software-rasterizer",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
/** Number of error lines that the test run prints. */
const TAIL_LINES = 6;

export class TestBrowser {
  /** For steps that need more than a page. */
  readonly browser: Browser;
  /** Chromium's home, temporary folder and standard error. */
  readonly #folder: string;
  /** Rejects when it crashes. */
  readonly #crash: Promise<never>;
  #rejectCrash: (error: Error) => void = () => {};
  #crashed: Error | undefined;
  #closing = false;

  /** @param environment variables it needs besides PATH, HOME and TMPDIR @throws with the end of its standard error */
  static async launch(path: string, environment: Readonly<Record<string, string>>): Promise<TestBrowser> {
    const folder = mkdtempSync(join(tmpdir(), "sotto-chromium-"));
    const log = join(folder, "stderr");
    writeFileSync(log, "");
    const env = {
      PATH: process.env["PATH"] ?? "",
      HOME: folder,
      TMPDIR: folder,
      ...environment,
      SOTTO_CHROMIUM_PATH: path,
      SOTTO_CHROMIUM_LOG: log,
    };
    const executablePath = join(import.meta.dirname, "chromium.sh");
    // Without these, Playwright closes Chromium on a signal, and the tests continue without it.
    const signals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false };
    try {
      const options = { executablePath, args: FLAGS, env, timeout: STEP_MS, ...signals };
      return new TestBrowser(await chromium.launch(options), folder);
    } catch (error) {
      const message = `Chromium (${path}) did not start; ${endOfLog(folder)}`;
      rmSync(folder, { recursive: true, force: true });
      throw new Error(message, { cause: error });
    }
  }

  private constructor(browser: Browser, folder: string) {
    this.browser = browser;
    this.#folder = folder;
    this.#crash = new Promise((_, reject) => {
      this.#rejectCrash = reject;
    });
    // Without a handler, a crash while no test waits would be an unhandled rejection.
    this.#crash.catch(() => {});
    browser.on("disconnected", () => this.#reportCrash("its process ended"));
  }

  /** @param stepMs limit for each of its steps */
  async newPage(options: BrowserContextOptions = {}, stepMs = STEP_MS): Promise<Page> {
    const page = await this.browser.newPage(options);
    page.setDefaultTimeout(stepMs);
    page.on("crash", () => this.#reportCrash("the process of a page ended"));
    return page;
  }

  /** Runs steps in the browser. @throws the error of the steps, or immediately a crash error if Chromium crashes */
  async during<T>(steps: () => Promise<T>): Promise<T> {
    try {
      return await Promise.race([this.#crash, steps()]);
    } catch (error) {
      // After a crash, Playwright also rejects the current step.
      throw this.#crashed ?? error;
    }
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.browser.close();
    // Chromium's last processes may still be writing.
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10 });
  }

  #reportCrash(what: string): void {
    if (this.#closing || this.#crashed !== undefined) return;
    this.#crashed = new Error(`Chromium crashed: ${what}; ${endOfLog(this.#folder)}`);
    this.#rejectCrash(this.#crashed);
  }
}

function endOfLog(folder: string): string {
  const lines = readFileSync(join(folder, "stderr"), "utf8").trimEnd().split("\n");
  return `the end of its standard error:\n${lines.slice(-TAIL_LINES).join("\n") || "(empty)"}`;
}
