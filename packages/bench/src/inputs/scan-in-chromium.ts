import { readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "@sotto/keys/circuits/paths";
import type { DeliveredNote, Viewer } from "@sotto/protocol";
import { launchChromium } from "@sotto/test-browser/chromium";
import type { Page } from "playwright-core";
import { openWebHost } from "./web-host.ts";

const ASSETS = join(root, "packages", "web", "dist", "assets");
const TIMEOUT_MS = 180_000;

type Scan = (notes: readonly DeliveredNote[]) => Promise<{ seconds: number; found: number }>;

/**
 * Runs `use` with a function that decrypts notes in Chromium: with the web app's own worker of a scan, as many of them
 * as there are cores.
 */
export async function inChromium(viewer: Viewer, use: (scan: Scan) => Promise<void>): Promise<void> {
  const worker = readdirSync(ASSETS).find((file) => file.startsWith("scan.worker-"));
  if (worker === undefined) throw new Error(`${ASSETS} has no worker for scans: build packages/web`);
  const host = await openWebHost();
  const browser = await launchChromium();
  try {
    await browser.during(async () => {
      const page = await browser.newPage({}, TIMEOUT_MS);
      await page.goto(host.url);
      await use(await startIn(page, `./assets/${worker}`, viewer));
    });
  } finally {
    await browser.close();
    host.close();
  }
}

async function startIn(page: Page, url: string, viewer: Viewer): Promise<Scan> {
  await page.evaluate((file) => {
    const start = () => new Worker(file, { type: "module" });
    const workers = Array.from({ length: Math.min(navigator.hardwareConcurrency, 4) }, start);
    let nextId = 1;
    const decrypt = (worker: Worker, viewer: unknown, notes: unknown) =>
      new Promise<number>((resolve, reject) => {
        const id = nextId++;
        const listen = ({ data }: MessageEvent<{ id: number; found: unknown[]; error?: string }>) => {
          if (data.id !== id) return;
          worker.removeEventListener("message", listen);
          if (data.error === undefined) resolve(data.found.length);
          else reject(new Error(data.error));
        };
        worker.addEventListener("message", listen);
        worker.addEventListener("error", () => reject(new Error("the worker failed")));
        worker.postMessage({ id, viewer, notes });
      });
    const scan = async (viewer: unknown, notes: readonly unknown[]) => {
      const chunks = Array.from({ length: Math.ceil(notes.length / 256) }, (_, i) =>
        notes.slice(256 * i, 256 * i + 256),
      );
      let found = 0;
      const begin = performance.now();
      const take = async (worker: Worker) => {
        for (let chunk = chunks.pop(); chunk !== undefined; chunk = chunks.pop())
          found += await decrypt(worker, viewer, chunk);
      };
      // Two chunks at a time, so that a worker has the next one when it finishes one.
      await Promise.all([...workers, ...workers].map(take));
      return { seconds: (performance.now() - begin) / 1000, found };
    };
    Object.assign(globalThis, { scan });
  }, url);
  return (notes) =>
    page.evaluate(
      ([keys, part]) => {
        const { scan } = globalThis as unknown as {
          scan(viewer: unknown, notes: readonly unknown[]): ReturnType<Scan>;
        };
        return scan(keys, part);
      },
      [viewer, notes] as const,
    );
}
