// `pnpm bench compact`: compact keys, compared with .zkey files that are compressed with brotli.
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { median } from "@sotto/command/median";
import { compactKey, expandKey } from "@sotto/groth16";
import { artifactPaths } from "@sotto/keys/circuits/paths";
import { launchChromium } from "@sotto/test-browser/chromium";
import type { TestBrowser } from "@sotto/test-browser/test-browser";
import { build } from "esbuild";
import type { CompactPage } from "./inputs/compact-page.ts";
import { openSlowServer, type ServedFile } from "./inputs/slow-server.ts";
import { benchInputs } from "./inputs/statements.ts";
import type { Print } from "./main.ts";

export const about =
  "compact keys: their size, expanding them, and a page's first proof over lines of 20 and 100 Mbit/s";

const CIRCUITS = ["payment", "withdrawal"] as const;
/** Lines, Mbit/s, and how often a fresh page proves over each. */
const [LINES, PAGES] = [[20, 100], 7];
const EXPANSIONS = 5;
/** Timeout of a page, ms. */
const PAGE_MS = 120_000;

const brotli = (path: string): Uint8Array => readFileSync(`${path}.br`);

/** The bundled page script, and the files of the payment circuit: the generator and the .zkey file as a service sends them. */
async function pageFiles(compact: Uint8Array): Promise<Map<string, ServedFile>> {
  const { outputFiles } = await build({
    ...{ bundle: true, splitting: true, write: false, format: "esm", platform: "browser", logLevel: "error" },
    entryPoints: [join(import.meta.dirname, "inputs", "compact-page.ts")],
    outdir: "/",
  });
  const { wasm, zkey } = artifactPaths("payment");
  const script = '<!doctype html><script type="module" src="/compact-page.js"></script>';
  return new Map<string, ServedFile>([
    ["/", { bytes: new TextEncoder().encode(script), type: "text/html" }],
    ...outputFiles.map(
      ({ path, contents }) => [`/${basename(path)}`, { bytes: contents, type: "text/javascript" }] as const,
    ),
    ["/wasm", { bytes: brotli(wasm), type: "application/wasm", encoding: "br" }],
    ["/zkey", { bytes: brotli(zkey), type: "application/octet-stream", encoding: "br" }],
    ["/compact", { bytes: compact, type: "application/octet-stream" }],
  ]);
}

/** The first proof of a fresh page, ms. */
async function firstProof(browser: TestBrowser, url: string, key: string): Promise<number> {
  const page = await browser.newPage({}, PAGE_MS);
  try {
    await page.goto(url);
    await page.waitForFunction(() => "page" in globalThis);
    return await page.evaluate(
      ({ input, key }) => (globalThis as unknown as { page: CompactPage }).page.prove(input as never, "/wasm", key),
      { input: benchInputs().payment as object, key },
    );
  } finally {
    await page.close();
  }
}

async function measurePages(compact: Uint8Array, print: Print): Promise<void> {
  const files = await pageFiles(compact);
  const browser = await launchChromium();
  try {
    for (const line of LINES) {
      const server = await openSlowServer(files, (line * 1e6) / 8);
      try {
        const times: { zkey: number; compact: number }[] = [];
        for (let run = 1; run <= PAGES; run++) {
          process.stderr.write(`  ${line} Mbit/s, page ${run} of ${PAGES}\n`);
          const zkey = await firstProof(browser, server.url, "/zkey");
          times.push({ zkey, compact: await firstProof(browser, server.url, "/compact") });
        }
        print(`groth16.compact.page.${line}mbit.zkey.ms`, median(times.map(({ zkey }) => zkey)), "ms");
        print(`groth16.compact.page.${line}mbit.ms`, median(times.map(({ compact }) => compact)), "ms");
        print(`groth16.compact.page.${line}mbit.ratio`, median(times.map((each) => each.zkey / each.compact)), "times");
      } finally {
        server.close();
      }
    }
  } finally {
    await browser.close();
  }
}

export async function run(print: Print): Promise<void> {
  const ratios: number[] = [];
  const keys: Record<string, Uint8Array> = {};
  for (const name of CIRCUITS) {
    const { zkey } = artifactPaths(name);
    const compact = await compactKey(readFileSync(zkey));
    keys[name] = compact;
    print(`groth16.compact.${name}.mb`, compact.byteLength / 1e6, "MB");
    print(`groth16.compact.${name}.zkey.mb`, brotli(zkey).byteLength / 1e6, "MB");
    ratios.push(compact.byteLength / brotli(zkey).byteLength);
    const times: number[] = [];
    for (let run = 0; run < EXPANSIONS; run++) {
      const before = process.cpuUsage();
      await expandKey(compact, { singleThread: true });
      const { user, system } = process.cpuUsage(before);
      times.push((user + system) / 1000);
    }
    print(`groth16.compact.${name}.expand.cpu.ms`, median(times), "ms");
  }
  print("groth16.compact.ratio", Math.max(...ratios), "of the .zkey file with brotli");
  await measurePages(keys["payment"] as Uint8Array, print);
}
