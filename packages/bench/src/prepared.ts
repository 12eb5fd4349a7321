// `pnpm bench prepared`: payments that are prepared before their resource is known, against complete ones, in Node and in
// Chromium.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { median } from "@sotto/command/median";
import { artifactPaths } from "@sotto/keys/circuits/paths";
import { createProver, loadArtifacts, type Prover } from "@sotto/prover";
import { launchChromium } from "@sotto/test-browser/chromium";
import { SqliteStore } from "@sotto/wallet/sqlite";
import { openPageServer } from "./inputs/page-server.ts";
import type { PreparedPage } from "./inputs/prepared-page.ts";
import { openBenchPayer } from "./inputs/prepared-payer.ts";
import { benchInputs } from "./inputs/statements.ts";
import type { Print } from "./main.ts";

export const about = "finishing prepared payments, against complete proofs, in Node and in Chromium";

const RUNS = 30;
/** Complete payments, and preparations whose processor time is compared with proofs. */
const COMPLETE = 5;
/** Timeout of the page for downloading the keys and preparing, ms. */
const PAGE_MS = 180_000;

interface Figures {
  readonly finish: number;
  readonly bundle: number;
  readonly complete: number;
}

/** Milliseconds of CPU time on all cores. */
async function cpu(action: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await action();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const note = (text: string): void => void process.stderr.write(`  ${text}\n`);

async function measureCpu(prover: Prover, print: Print): Promise<void> {
  const input = benchInputs().payment;
  const prepare = async () => (await prover.prepare("payment", input, "resourceUrl")).discard();
  const prove = () => prover.prove("payment", input);
  await prepare();
  await prove();
  const costs: [number[], number[]] = [[], []];
  for (let run = 0; run < COMPLETE; run += 1) {
    note(`processor time, run ${run + 1} of ${COMPLETE}`);
    costs[0].push(await cpu(prepare));
    costs[1].push(await cpu(prove));
  }
  print("prepared.prepare.cpu.ms", median(costs[0]), "ms");
  print("prepared.prepare.proofs", median(costs[0]) / median(costs[1]), "proofs");
}

/** Payments with and without preparation take turns, so that other load on the machine affects both. */
async function measure(where: string, finish: () => Promise<number>, pay: (prepared: boolean) => Promise<number>) {
  const times: { [kind in keyof Figures]: number[] } = { finish: [], bundle: [], complete: [] };
  await finish();
  await pay(true);
  await pay(false);
  for (let run = 0; run < RUNS; run += 1) {
    if (run % 10 === 0) note(`${where}, payment ${run + 1} of ${RUNS}`);
    times.finish.push(await finish());
    times.bundle.push(await pay(true));
    if (run % (RUNS / COMPLETE) === 0) times.complete.push(await pay(false));
  }
  return { finish: median(times.finish), bundle: median(times.bundle), complete: median(times.complete) };
}

async function measureNode(prover: Prover): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), "sotto-bench-"));
  const store = new SqliteStore(join(folder, "wallet.sqlite"));
  const payer = await openBenchPayer(prover, store, RUNS + COMPLETE + 2);
  const input = benchInputs().payment;
  try {
    return await measure(
      "Node",
      async () => {
        const prepared = await prover.prepare("payment", input, "resourceUrl");
        const start = performance.now();
        await prepared.finish(5n);
        return performance.now() - start;
      },
      async (prepared) => {
        if (prepared) await payer.prepare();
        return payer.pay();
      },
    );
  } finally {
    await payer.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureChromium(): Promise<Figures> {
  const server = await openPageServer("prepared-page.ts");
  const browser = await launchChromium();
  try {
    return await browser.during(async () => {
      const page = await browser.newPage({}, PAGE_MS);
      await page.goto(server.url);
      await page.waitForFunction(() => Object.hasOwn(globalThis, "page"));
      const input = benchInputs().payment;
      await page.evaluate(
        async ([path, service, notes]) => {
          const { page: own } = globalThis as unknown as { page: PreparedPage };
          await own.connect(path, service);
          await own.openPayer(notes);
        },
        [server.worker, server.url, RUNS + COMPLETE + 2] as const,
      );
      return measure(
        "Chromium",
        () =>
          page.evaluate(
            (witness) => (globalThis as unknown as { page: PreparedPage }).page.finish(witness as never),
            input as object,
          ),
        (prepared) => page.evaluate((how) => (globalThis as unknown as { page: PreparedPage }).page.pay(how), prepared),
      );
    });
  } finally {
    await browser.close();
    server.close();
  }
}

export async function run(print: Print): Promise<void> {
  const prover = createProver(await loadArtifacts({ folder: dirname(dirname(artifactPaths("payment").zkey)) }));
  note(`engine ${prover.engine.name}`);
  await measureCpu(prover, print);
  const node = await measureNode(prover);
  print("prepared.finish.ms", node.finish, "ms");
  print("prepared.bundle.ms", node.bundle, "ms");
  print("prepared.complete.ms", node.complete, "ms");
  print("prepared.speedup", node.complete / node.bundle, "times");
  const page = await measureChromium();
  print("prepared.web.finish.ms", page.finish, "ms");
  print("prepared.web.bundle.ms", page.bundle, "ms");
  print("prepared.web.finish.ratio", page.finish / node.finish, "x Node");
  print("prepared.web.bundle.ratio", page.bundle / node.bundle, "x Node");
  print("prepared.web.speedup", page.complete / page.bundle, "times");
}
