// `pnpm bench start`: the first proof of a process and of a page, against later ones of the same process or page.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { serialize } from "node:v8";
import { median } from "@sotto/command/median";
import { artifactPaths } from "@sotto/keys/circuits/paths";
import { launchChromium } from "@sotto/test-browser/chromium";
import { openPageServer } from "./inputs/page-server.ts";
import type { StartPage } from "./inputs/start-page.ts";
import type { Advance, ProofTimes } from "./inputs/start-process.ts";
import { benchInputs } from "./inputs/statements.ts";
import type { Print } from "./main.ts";

export const about = "the first proof of a fresh process and of a fresh page, against later ones there";

/** Fresh processes, and fresh pages. */
const [PROCESSES, PAGES] = [9, 7];
/** Proofs of each: the first one, one that is not counted, and warm ones. */
const PROOFS = 7;
/** Timeout of a page, ms. */
const PAGE_MS = 120_000;

const note = (text: string): void => void process.stderr.write(`  ${text}\n`);

interface Started {
  readonly imported: number;
  readonly times: readonly ProofTimes[];
}

/** Every run measures a first proof without either method and one after each of them. */
const METHODS: readonly Advance[] = ["load", "warm"];

/** The machine compiles and optimizes code in the background, so the second proof is not warm yet. */
const warm = (times: readonly number[]): number => median(times.slice(2));

/** Median of the first proofs. */
const firstOf = (runs: readonly (readonly number[])[]): number => median(runs.map((times) => times[0]!));

/** Median of the first proofs, each divided by the warm proof of its process or page. */
const firstRatio = (runs: readonly (readonly number[])[]): number =>
  median(runs.map((times) => times[0]! / warm(times)));

/**
 * The first proof is everything from importing the built package to the checked proof: reading the files and comparing their
 * hashes, preparing the key, starting the second thread, the witness, the proof. Starting Node is not part of it. In two of
 * three processes, the prover has done a part in advance: `load`, as wallets do while they wait for their node
 * (`start.loaded.ratio`), or `warm` (`start.warmed.ratio`).
 */
function measureNode(input: unknown, print: Print): void {
  const folder = mkdtempSync(join(tmpdir(), "sotto-bench-"));
  try {
    const file = join(folder, "input");
    writeFileSync(file, serialize(input));
    const script = join(import.meta.dirname, "inputs", "start-process.ts");
    const circuits = dirname(dirname(artifactPaths("payment").zkey));
    const start = (...first: Advance[]): Started =>
      JSON.parse(
        execFileSync(process.execPath, [script, circuits, file, String(PROOFS), ...first], { encoding: "utf8" }),
      );
    const runs: Started[] = [];
    const after: Record<Advance, number[][]> = { load: [], warm: [] };
    for (let run = 1; run <= PROCESSES; run++) {
      note(`Node, process ${run} of ${PROCESSES}`);
      runs.push(start());
      for (const method of METHODS) after[method].push(start(method).times.map(({ wall }) => wall));
    }
    const walls = runs.map(({ times }) => times.map(({ wall }) => wall));
    const cpus = runs.map(({ times }) => times.map(({ cpu }) => cpu));
    print("start.first.ratio", firstRatio(walls), "times");
    print("start.first.ms", firstOf(walls), "ms");
    print("start.first.import.ms", median(runs.map(({ imported }) => imported)), "ms");
    print("start.warm.ms", median(walls.map(warm)), "ms");
    print("start.loaded.ratio", firstRatio(after.load), "times");
    print("start.warmed.ratio", firstRatio(after.warm), "times");
    print("start.first.cpu.ratio", firstRatio(cpus), "times");
    print("start.first.cpu.ms", firstOf(cpus), "ms");
    print("start.warm.cpu.ms", median(cpus.map(warm)), "ms");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Fresh pages of one browser profile, whose IndexedDB has the circuits' files since the first page. Starting the worker is
 * part of the first proof, loading the page is not.
 */
async function measureChromium(input: object, print: Print): Promise<void> {
  const server = await openPageServer("start-page.ts");
  const browser = await launchChromium();
  try {
    await browser.during(async () => {
      const context = await browser.browser.newContext();
      const prove = async (method?: Advance): Promise<number[]> => {
        const page = await context.newPage();
        page.setDefaultTimeout(PAGE_MS);
        await page.goto(server.url);
        await page.waitForFunction(() => Object.hasOwn(globalThis, "page"));
        const times = await page.evaluate(
          async ([path, service, witness, count, first]) => {
            const { page: own } = globalThis as unknown as { page: StartPage };
            return own.prove(path, service, witness as never, count, first);
          },
          [server.worker, server.url, input, PROOFS, method] as const,
        );
        await page.close();
        return times;
      };
      note("Chromium, downloads the files");
      await prove();
      const runs: number[][] = [];
      const after: Record<Advance, number[][]> = { load: [], warm: [] };
      for (let run = 1; run <= PAGES; run++) {
        note(`Chromium, page ${run} of ${PAGES}`);
        runs.push(await prove());
        for (const method of METHODS) after[method].push(await prove(method));
      }
      print("start.page.ratio", firstRatio(runs), "times");
      print("start.page.loaded.ratio", firstRatio(after.load), "times");
      print("start.page.warmed.ratio", firstRatio(after.warm), "times");
      print("start.page.first.ms", firstOf(runs), "ms");
      print("start.page.warm.ms", median(runs.map(warm)), "ms");
    });
  } finally {
    await browser.close();
    server.close();
  }
}

export async function run(print: Print): Promise<void> {
  const input = benchInputs().payment;
  measureNode(input, print);
  await measureChromium(input, print);
}
