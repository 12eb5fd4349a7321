import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Groth16Result } from "@sotto/groth16";
import { launchChromium } from "@sotto/test-browser/chromium";

/** One of two packages. */
export type Package = "sotto" | "snarkjs";
/** Proves a witness in the page, with both files by their URLs. */
type Prove = (which: Package, zkey: string, wtns: string) => Promise<Groth16Result>;

const TIMEOUT_MS = 180_000;
const SOTTO = dirname(fileURLToPath(import.meta.resolve("@sotto/groth16")));
const SNARKJS = join(dirname(fileURLToPath(import.meta.resolve("snarkjs"))), "build", "snarkjs.min.js");
const PAGE = '<!doctype html><script src="/snarkjs.min.js"></script>';

/** Runs `use` with a function that proves in a page of Chromium, which is not isolated from other origins. */
export async function inChromium(use: (prove: Prove) => Promise<void>): Promise<void> {
  const files = new Map<string, string>([["/snarkjs.min.js", SNARKJS]]);
  const server = createServer(({ url = "/" }, response) => {
    const path = url.startsWith("/sotto/") ? join(SOTTO, url.slice("/sotto/".length)) : files.get(url);
    const type = url === "/" ? "text/html" : url.endsWith(".js") ? "text/javascript" : "application/octet-stream";
    response.writeHead(url === "/" || path !== undefined ? 200 : 404, { "Content-Type": type });
    response.end(path === undefined ? PAGE : readFileSync(path));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const browser = await launchChromium();
  try {
    await browser.during(async () => {
      const page = await browser.newPage({}, TIMEOUT_MS);
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      await use((which, zkey, wtns) => {
        files.set("/zkey", zkey).set("/wtns", wtns);
        return page.evaluate(async (which) => {
          type Groth16 = { prove(zkey: string, wtns: string): Promise<Groth16Result> };
          // A name that the compiler does not resolve.
          const entry = "/sotto/index.js";
          const global = globalThis as unknown as { readonly snarkjs: { readonly groth16: Groth16 } };
          const { groth16 } = which === "sotto" ? ((await import(entry)) as { groth16: Groth16 }) : global.snarkjs;
          return groth16.prove("/zkey", "/wtns");
        }, which);
      });
    });
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
}
