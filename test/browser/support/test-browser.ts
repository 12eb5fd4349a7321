// A Chromium under test. If it crashes, the tests say so, with the end of what it wrote to standard error.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

/** Limit for one step in the browser, ms: a click, a navigation, the next thing a page shows. */
export const STEP_MS = 30_000;
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  // Playwright allows one, whose library the Chromium of npm does not bring.
  "--disable-software-rasterizer",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
/** As many as the test run prints of an error. */
const TAIL_LINES = 6;

export class TestBrowser {
  /** For what pages can't do. */
  readonly browser: Browser;
  /** Its home, its temporary folder and its standard error. */
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
    // Playwright would close Chromium and let the tests run on without it.
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
    // Nobody may be waiting when it crashes.
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

  /** Takes steps in the browser. @throws as they do; if Chromium crashes, at once and with that as the reason */
  async during<T>(steps: () => Promise<T>): Promise<T> {
    try {
      return await Promise.race([this.#crash, steps()]);
    } catch (error) {
      // Playwright also rejects what is under way.
      throw this.#crashed ?? error;
    }
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.browser.close();
    // Its last processes may still be writing.
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
