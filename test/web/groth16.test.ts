// @sotto/groth16 with snarkjs's API in a page, without a bundler: its workers, and what a page may lack.
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { launchChromium } from "@sotto/test-browser/chromium";
import type { TestBrowser } from "@sotto/test-browser/test-browser";
import { slow } from "@sotto/test-kit/slow";
import { buildToy, TOY_INPUT_JSON, TOY_SIGNALS } from "@sotto/test-kit/toy";
import { expect } from "chai";
import type { Page } from "playwright-core";

const DIST = dirname(fileURLToPath(import.meta.resolve("@sotto/groth16")));
const ISOLATED = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };
const NO_BLOBS = {
  "Content-Security-Policy":
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; worker-src 'self'",
};

describe("groth16 in a page", function () {
  slow(this, "a circuit is compiled, and a browser starts");
  let toy: string;
  let browser: TestBrowser;
  let server: Server;
  let headers: Readonly<Record<string, string>>;

  before(async () => {
    toy = join(await buildToy(import.meta.dirname), "toy");
    browser = await launchChromium();
    server = createServer((request, response) => {
      const name = (request.url ?? "/").slice(1);
      const type = name === "" ? "text/html" : name.endsWith(".js") ? "text/javascript" : "application/octet-stream";
      response.writeHead(200, { "Content-Type": type, ...headers });
      response.end(name === "" ? "<!doctype html>" : readFileSync(join(name.startsWith("toy.") ? toy : DIST, name)));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  after(async () => {
    await browser?.close();
    server?.closeAllConnections();
    server?.close();
  });

  /** Proves and verifies twice. @returns the results, and what the page used */
  const run = async (page: Page) => {
    const files = new Set<string>();
    page.on("response", (response) => files.add(new URL(response.url()).pathname.slice(1)));
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const found = await page.evaluate(async (input) => {
      // A name that the compiler does not resolve.
      const entry = "/index.js";
      const { groth16 } = (await import(entry)) as typeof import("@sotto/groth16");
      const key = await (await fetch("/toy.vkey.json")).json();
      const found: unknown[] = [];
      for (let round = 0; round < 2; round++) {
        const { proof, publicSignals } = await groth16.fullProve(JSON.parse(input), "/toy.wasm", "/toy.zkey");
        found.push(publicSignals, await groth16.verify(key, publicSignals, proof));
      }
      return [...found, crossOriginIsolated];
    }, TOY_INPUT_JSON);
    const used = { workers: page.workers().length, plain: files.has("plain-kernels.js") };
    await page.close();
    return { found, ...used };
  };
  const valid = [TOY_SIGNALS, true, TOY_SIGNALS, true];

  it("proves in two workers, isolated from other origins or not", async () => {
    for (const [isolated, given] of [
      [false, {}],
      [true, ISOLATED],
    ] as const) {
      headers = given;
      const result = await browser.during(async () => run(await browser.newPage()));
      expect(result).to.deep.equal({ found: [...valid, isolated], workers: 2, plain: false });
    }
  });

  it("proves in the page's thread if its policy forbids such workers", async () => {
    headers = NO_BLOBS;
    const result = await browser.during(async () => run(await browser.newPage()));
    expect(result).to.deep.equal({ found: [...valid, false], workers: 0, plain: false });
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
    expect(result).to.deep.equal({ found: [...valid, false], workers: 2, plain: true });
  });
});
