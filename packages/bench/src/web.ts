import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { median } from "@sotto/command/median";
import type { CircuitInput } from "@sotto/groth16";
import { artifactPaths, root } from "@sotto/keys/circuits/paths";
import { createProver, loadArtifacts } from "@sotto/prover";
import { launchChromium } from "@sotto/test-browser/chromium";
import type { TestBrowser } from "@sotto/test-browser/test-browser";
import type { Page } from "playwright-core";
import { RecordedNode } from "./inputs/recorded-node.ts";
import { benchInputs } from "./inputs/statements.ts";
import { openWebHost, type WebHost } from "./inputs/web-host.ts";
import type { Print } from "./main.ts";

export const about =
  "the web app: size and time of the first view, a pool of 100,000 notes, a proof in a browser's worker";

const DIST = join(root, "packages", "web", "dist");
const NOTES = 100_000;
const LOADS = 5;
const PROOFS = 3;
/** Timeouts for reading 100,000 notes from the recorded node and for other waits, ms. */
const READ_MS = 180_000;
/** A task that blocks the page on purpose, and the wait until the browser has reported it, ms. */
const [BLOCK_MS, REPORT_MS] = [150, 300];
const LOCALE = { locale: "en-US" };

/** Files of the app whose responses a page waits for before it can be used. */
async function firstView(browser: TestBrowser, host: WebHost): Promise<number> {
  const page = await browser.newPage(LOCALE);
  const files = new Set<string>();
  page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    if (response.url().startsWith(host.url) && response.ok() && pathname !== "/sotto.json") files.add(pathname);
  });
  await page.goto(`${host.url}/#/wallet`);
  await page.getByRole("button", { name: "Create a wallet" }).waitFor();
  await page.close();
  // The engine's worker starts after the first paint, and is not counted.
  const counted = [...files].filter((file) => !file.includes(".worker-"));
  const sizes = counted.map((file) => gzipSync(readFileSync(join(DIST, file === "/" ? "index.html" : file))).length);
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Milliseconds from the start of the navigation until the first button can be used. */
async function interactiveMs(browser: TestBrowser, url: string, button: string): Promise<number> {
  const page = await browser.newPage(LOCALE);
  const start = performance.now();
  await page.goto(url, { waitUntil: "commit" });
  await page.getByRole("button", { name: button }).waitFor();
  const elapsed = performance.now() - start;
  await page.close();
  return elapsed;
}

/** The longest task of the page's main thread while `action` runs, ms; 0 if none took 50 ms. */
async function longestTask(page: Page, action: () => Promise<void>): Promise<number> {
  await page.evaluate(() => {
    const state = globalThis as unknown as { longest: number; observer: PerformanceObserver };
    state.longest = 0;
    state.observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) state.longest = Math.max(state.longest, duration);
    });
    state.observer.observe({ type: "longtask" });
  });
  await action();
  // The browser reports a task only after it has ended.
  await page.waitForTimeout(REPORT_MS);
  return page.evaluate(() => {
    const { longest, observer } = globalThis as unknown as { longest: number; observer: PerformanceObserver };
    const last = observer.takeRecords().map(({ duration }) => duration);
    observer.disconnect();
    return Math.max(longest, ...last);
  });
}

/** Blocks the page on purpose. @throws if the browser does not report it: then a figure of 0 would mean nothing */
async function assertReported(page: Page): Promise<void> {
  const block = (ms: number) =>
    new Promise<void>((resolve) => {
      setTimeout(() => {
        for (const end = performance.now() + ms; performance.now() < end; );
        resolve();
      });
    });
  const found = await longestTask(page, () => page.evaluate(block, BLOCK_MS));
  if (found < BLOCK_MS) throw new Error(`the browser reported ${found} ms for a task of ${BLOCK_MS} ms`);
}

/** Scrolls through all notes, and searches, in the pool's explorer. */
async function scrollAndSearch(browser: TestBrowser, host: WebHost, commitment: string): Promise<number> {
  const page = await browser.newPage({ ...LOCALE, viewport: { width: 1280, height: 900 } }, READ_MS);
  await page.goto(`${host.url}/#/pool`);
  const list = page.locator(".virtual");
  // The page's figures show all notes only once everything has been read.
  await page
    .locator(".figure", { hasText: NOTES.toLocaleString("en-US") })
    .first()
    .waitFor();
  await list.locator("code", { hasText: "0x" }).first().waitFor();
  await assertReported(page);
  const longest = await longestTask(page, async () => {
    await list.evaluate(async (element) => {
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      const steps = 300;
      for (let step = 0; step <= steps; step += 1) {
        // Small steps, as a wheel makes them, and jumps, as a scroll bar makes them.
        const jump = step % 3 === 0 ? element.scrollHeight * (step / steps) : element.scrollTop + 240;
        element.scrollTop = jump;
        await frame();
      }
    });
    const search = page.getByRole("searchbox", { name: "Search the pool" });
    for (const text of ["4711", commitment.slice(0, 12), commitment, "0xabc"]) {
      await search.fill(text);
      await page.locator(".hits li").first().waitFor();
    }
    await page.getByRole("button", { name: "Show" }).first().click();
    await page.getByRole("dialog").waitFor();
  });
  await page.close();
  return longest;
}

/** A page with one button and no script, to compare with; and the circuits' files by hash, as a service has them. */
async function openServer(): Promise<{ url: string; close(): void }> {
  const { wasm, zkey, vkey } = artifactPaths("payment");
  const files = new Map([wasm, zkey, vkey].map((path) => [sha256(readFileSync(path)), path]));
  const server = createServer(({ url = "" }, response) => {
    response.setHeader("access-control-allow-origin", "*");
    const path = files.get(url.replace(/^\/artifacts\//, ""));
    if (path !== undefined) return void response.end(readFileSync(path));
    if (url !== "/") return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><button>Ready</button>");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Proves in the worker of the built app, after a first proof that downloads the files. @returns ms of each proof */
async function proveInPage(page: Page, service: string, input: CircuitInput): Promise<() => Promise<number>> {
  const assets = readdirSync(join(DIST, "assets"));
  const worker = assets.find((file) => file.startsWith("prover.worker-"));
  if (worker === undefined) throw new Error("the build has no prover's worker");
  await page.evaluate(
    ([file, from]) => {
      const started = new Worker(file, { type: "module" });
      let id = 0;
      const ask = (request: object) =>
        new Promise<void>((resolve, reject) => {
          id += 1;
          const own = id;
          const listen = ({ data }: MessageEvent) => {
            if (data.id !== own || data.download !== undefined) return;
            started.removeEventListener("message", listen);
            if (data.failure === undefined) resolve();
            else reject(new Error(data.failure.message));
          };
          started.addEventListener("message", listen);
          started.postMessage({ ...request, id });
        });
      Object.assign(globalThis, { ask });
      return ask({ kind: "open", source: { service: from, set: "development" } });
    },
    [`./assets/${worker}`, service] as const,
  );
  return () =>
    page.evaluate(async (witness) => {
      const { ask } = globalThis as unknown as { ask(request: object): Promise<void> };
      const start = performance.now();
      await ask({ kind: "prove", circuit: "payment", input: witness });
      return performance.now() - start;
    }, input as object);
}

/** A payment's proof in the page's worker and in Node, in turns, so that other load on the machine affects both. */
async function prove(browser: TestBrowser, host: WebHost, service: string): Promise<{ page: number; node: number }> {
  const input = benchInputs().payment;
  const artifacts = await loadArtifacts({ folder: dirname(dirname(artifactPaths("payment").zkey)) });
  const prover = createProver(artifacts);
  const page = await browser.newPage(LOCALE, READ_MS);
  try {
    await page.goto(host.url);
    const inPage = await proveInPage(page, service, input);
    const inNode = async () => {
      const start = performance.now();
      await prover.prove("payment", input);
      return performance.now() - start;
    };
    await inPage();
    await inNode();
    const times: { page: number; node: number }[] = [];
    for (let run = 0; run < PROOFS; run += 1) {
      process.stderr.write(`  proof ${run + 1} of ${PROOFS}\n`);
      times.push({ page: await inPage(), node: await inNode() });
    }
    return { page: median(times.map(({ page }) => page)), node: median(times.map(({ node }) => node)) };
  } finally {
    await page.close();
    await prover.close();
  }
}

export async function run(print: Print): Promise<void> {
  const node = new RecordedNode(NOTES, Math.floor(Date.now() / 1000));
  const nodeUrl = await node.listen();
  const server = await openServer();
  const { deployment } = node;
  const host = await openWebHost({ name: "Recorded", deployment, nodes: [nodeUrl], service: server.url });
  const browser = await launchChromium();
  try {
    await browser.during(async () => {
      print("web.first.kb", (await firstView(browser, host)) / 1000, "kB");
      const times: { app: number; empty: number }[] = [];
      for (let load = 0; load < LOADS; load += 1) {
        const app = await interactiveMs(browser, `${host.url}/#/wallet`, "Create a wallet");
        times.push({ app, empty: await interactiveMs(browser, server.url, "Ready") });
      }
      const app = median(times.map(({ app }) => app));
      print("web.interactive.ms", app, "ms");
      print("web.interactive.ratio", app / median(times.map(({ empty }) => empty)), "x an empty page");
      process.stderr.write(`  reading ${NOTES} notes, scrolling and searching\n`);
      print("web.longtask.max.ms", await scrollAndSearch(browser, host, node.commitment), "ms");
      const proofs = await prove(browser, host, server.url);
      print("web.prove.payment.ms", proofs.page, "ms");
      print("web.prove.payment.ratio", proofs.page / proofs.node, "x Node");
    });
  } finally {
    await browser.close();
    host.close();
    server.close();
    node.close();
  }
}
