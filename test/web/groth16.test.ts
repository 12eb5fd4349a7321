// @sotto/groth16 with snarkjs's API in a page, without a bundler: its workers, and what a page may lack.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compactKey } from "@sotto/groth16";
import { launchChromium } from "@sotto/test-browser/chromium";
import type { TestBrowser } from "@sotto/test-browser/test-browser";
import { slow } from "@sotto/test-kit/slow";
import { buildToy, TOY_INPUT_JSON, TOY_SIGNALS } from "@sotto/test-kit/toy";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { listen } from "./support/host.ts";

const DIST = dirname(fileURLToPath(import.meta.resolve("@sotto/groth16")));
const ISOLATED = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };
const NO_BLOBS = {
  "Content-Security-Policy":
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; worker-src 'self'",
};

/** What a page's workers did. */
interface Seen {
  started: number;
  /** URLs of workers' code. */
  urls: number;
  /** Replies with sums, of each worker. */
  sums: number[];
  /** Memory of the keys and the witnesses that were sent. */
  readonly keys: Set<ArrayBufferLike>;
  readonly witnesses: Set<ArrayBufferLike>;
}

/** Runs in the page before its own scripts, and leaves what it sees in `seen`. */
function watchWorkers(): void {
  const seen: Seen = { started: 0, urls: 0, sums: [], keys: new Set(), witnesses: new Set() };
  const { createObjectURL } = URL;
  URL.createObjectURL = (blob) => {
    seen.urls++;
    return createObjectURL(blob);
  };
  class WatchedWorker extends Worker {
    constructor(url: string) {
      super(url);
      const index = seen.started++;
      this.addEventListener("message", ({ data }) => {
        if (data.partialSums !== undefined) seen.sums[index] = (seen.sums[index] ?? 0) + 1;
      });
    }

    override postMessage(message: { prepare?: { zkey: Uint8Array }; sum?: { witness: Uint8Array } }): void {
      if (message.prepare !== undefined) seen.keys.add(message.prepare.zkey.buffer);
      if (message.sum !== undefined) seen.witnesses.add(message.sum.witness.buffer);
      super.postMessage(message);
    }
  }
  Object.assign(globalThis, { seen, Worker: WatchedWorker });
}

describe("groth16 in a page", function () {
  slow(this, "a circuit is compiled, and a browser starts");
  let toy: string;
  let compact: Uint8Array;
  let browser: TestBrowser;
  let server: Awaited<ReturnType<typeof listen>>;
  let headers: Readonly<Record<string, string>>;

  before(async () => {
    toy = join(await buildToy(import.meta.dirname), "toy");
    compact = await compactKey(readFileSync(join(toy, "toy.zkey")));
    browser = await launchChromium();
    server = await listen((request, response) => {
      const name = (request.url ?? "/").slice(1);
      const type = name === "" ? "text/html" : name.endsWith(".js") ? "text/javascript" : "application/octet-stream";
      response.writeHead(200, { "Content-Type": type, ...headers });
      if (name === "") response.end("<!doctype html>");
      else if (name === "toy.czkey") response.end(compact);
      else response.end(readFileSync(join(name.startsWith("toy.") ? toy : DIST, name)));
    });
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  /** Proves and verifies twice. @returns the results, and what the page used */
  const run = async (page: Page, zkey = "/toy.zkey") => {
    const files = new Set<string>();
    page.on("response", (response) => files.add(new URL(response.url()).pathname.slice(1)));
    await page.addInitScript(watchWorkers);
    await page.goto(`${server.url}/`);
    const evaluated = await page.evaluate(
      async ([input, zkey]) => {
        // A name that the compiler does not resolve.
        const entry = "/index.js";
        const { groth16 } = (await import(entry)) as typeof import("@sotto/groth16");
        const key = await (await fetch("/toy.vkey.json")).json();
        const found: unknown[] = [];
        for (let round = 0; round < 2; round++) {
          const { proof, publicSignals } = await groth16.fullProve(JSON.parse(input), "/toy.wasm", zkey);
          found.push(publicSignals, await groth16.verify(key, publicSignals, proof));
        }
        const { started, urls, sums, keys, witnesses } = (globalThis as unknown as { readonly seen: Seen }).seen;
        const memories = { keys: keys.size, witnesses: witnesses.size };
        return { found: [...found, crossOriginIsolated], seen: { started, urls, sums }, memories };
      },
      [TOY_INPUT_JSON, zkey] as const,
    );
    const used = { workers: page.workers().length, plain: files.has("plain-kernels.js") };
    await page.close();
    return { ...evaluated, ...used };
  };
  const valid = [TOY_SIGNALS, true, TOY_SIGNALS, true];
  // Each of two workers sums for each of two proofs. Each proof downloads its key.
  const inTwo = {
    ...{ seen: { started: 2, urls: 1, sums: [2, 2] }, memories: { keys: 2, witnesses: 2 } },
    workers: 2,
  };

  it("proves in two workers with one copy of key and witness, isolated from other origins or not", async () => {
    for (const [isolated, given] of [
      [false, {}],
      [true, ISOLATED],
    ] as const) {
      headers = given;
      const result = await browser.during(async () => run(await browser.newPage()));
      expect(result).to.deep.equal({ found: [...valid, isolated], ...inTwo, plain: false });
    }
  });

  it("proves with a compact key as with the key in it, in the workers that expand it, or alone", async () => {
    for (const given of [{}, ISOLATED]) {
      headers = given;
      const result = await browser.during(async () => run(await browser.newPage(), "/toy.czkey"));
      expect(result).to.deep.equal({ found: [...valid, given === ISOLATED], ...inTwo, plain: false });
    }
    headers = NO_BLOBS;
    const alone = await browser.during(async () => run(await browser.newPage(), "/toy.czkey"));
    expect([alone.found, alone.workers]).to.deep.equal([[...valid, false], 0]);
  });

  it("proves in the page's thread if its policy forbids such workers, and tries to start them once", async () => {
    headers = NO_BLOBS;
    const { memories: _, ...result } = await browser.during(async () => run(await browser.newPage()));
    const seen = { started: 2, urls: 1, sums: [] };
    expect(result).to.deep.equal({ found: [...valid, false], seen, workers: 0, plain: false });
  });

  it("proves in a browser without relaxed SIMD", async () => {
    headers = {};
    const result = await browser.during(async () => {
      const page = await browser.newPage();
      await page.addInitScript(() => {
        const { validate } = WebAssembly;
        // f64x2.relaxed_madd is fd 87 02.
        WebAssembly.validate = (bytes) =>
          !new Uint8Array(bytes as ArrayBuffer).join().includes("253,135,2,") && validate(bytes);
      });
      return run(page);
    });
    expect(result).to.deep.equal({ found: [...valid, false], ...inTwo, plain: true });
  });
});
