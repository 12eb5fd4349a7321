// Payments at a constant rate on a node that mines every 2 s: how many are settled, whether the queue of notes grows, and how
// much of a core each process takes.
import { setTimeout as sleep } from "node:timers/promises";
import { quantile } from "@sotto/command/quantile";
import { shieldedPoolAbi } from "@sotto/protocol";
import { post } from "@sotto/test-kit/http";
import { forgeBundle, settleRequest } from "@sotto/test-world/bundles";
import type { World } from "@sotto/test-world/service";
import type { ServiceProcess } from "@sotto/test-world/service-process";
import { Contract, type EventLog } from "ethers";
import type { Print } from "../main.ts";
import { cpuSeconds } from "./cpu-seconds.ts";

/** The time between two blocks on a slow node, seconds. */
export const BLOCK_SECONDS = 2;
const PER_SECOND = 31;
/** Seconds of load before the measurement, of the measurement, and after it: it ends with a block. */
const [WARM_UP, SECONDS, COOL_DOWN] = [10, 60, 4];
/**
 * Time for forging all payments before the load, ms, so that forging takes no CPU time during it. Payments are valid for two
 * minutes, so the load may also begin a minute later.
 */
const FORGING_MS = 20_000;

interface Forged {
  /** Time at which the payment is sent, ms; its proofs state the same time. */
  readonly at: number;
  /** Request that verifies it, JSON. */
  readonly verify: string;
  /** Request that settles it, without the token. */
  readonly settle: Record<string, unknown>;
}

/** Forges payments for some seconds, sent at a constant rate from `begin`, ms. */
function forge(world: World, begin: number, seconds: number): Forged[] {
  return Array.from({ length: PER_SECOND * seconds }, (_, index) => {
    const at = Math.round(begin + (1000 * index) / PER_SECOND);
    const bundle = forgeBundle(world, { root: world.root, timestamp: at });
    return { at, verify: JSON.stringify(bundle), settle: settleRequest(bundle, undefined) };
  });
}

/** Verifies and settles each payment at its time, even if earlier ones are not settled yet. */
async function load(url: string, payments: readonly Forged[]): Promise<void> {
  const pay = async ({ at, verify, settle }: Forged) => {
    await sleep(Math.max(1, at - Date.now()));
    const { body } = await post(`${url}/verify`, verify);
    const settled = await post(`${url}/settle`, { ...settle, paymentToken: body["paymentToken"] });
    if (settled.body["status"] !== "success")
      throw new Error(`a payment of the bench is ${JSON.stringify(settled.body)}`);
  };
  await Promise.all(payments.map(pay));
}

/** Cores that each process used between two moments, on average. */
function cores(from: ReturnType<typeof moment>, to: ReturnType<typeof moment>, service: number): Map<string, number> {
  const nameOf = ({ pid, parent }: { pid: number; parent: number }) => {
    if (pid === process.pid) return "load";
    if (pid === service) return "service";
    if (parent === service) return "prover";
    return parent === process.pid ? "node" : undefined;
  };
  const found = new Map<string, number>();
  for (const each of to.cpu) {
    const name = nameOf(each);
    if (name === undefined) continue;
    const before = from.cpu.find(({ pid }) => pid === each.pid)?.seconds ?? 0;
    found.set(name, (found.get(name) ?? 0) + (each.seconds - before) / ((to.time - from.time) / 1000));
  }
  return found;
}

const moment = () => ({ time: performance.now(), cpu: cpuSeconds() });

/** Makes the world's node mine a block every few seconds, and afterwards one for each transaction again. */
export async function withSlowBlocks<T>({ provider }: World, seconds: number, action: () => Promise<T>): Promise<T> {
  await provider.send("evm_setAutomine", [false]);
  await provider.send("evm_setIntervalMining", [1000 * seconds]);
  try {
    return await action();
  } finally {
    await provider.send("evm_setIntervalMining", [0]);
    await provider.send("evm_setAutomine", [true]);
  }
}

/** Measures under load. @param service sends to the world's node without a proxy */
export async function measureOnSlowNode(world: World, service: ServiceProcess, print: Print): Promise<void> {
  const { provider } = world;
  const pool = new Contract(world.pool, shieldedPoolAbi, provider);
  const queueAt = async () => {
    const block = await provider.getBlockNumber();
    const { size, appended } = await pool.getFunction("queue")({ blockTag: block });
    return { block, queued: Number(size - appended) };
  };
  const planned = Date.now() + FORGING_MS;
  const payments = forge(world, planned, WARM_UP + SECONDS + COOL_DOWN);
  await sleep(Math.max(1, planned - Date.now()));
  const { from, to } = await withSlowBlocks(world, BLOCK_SECONDS, async () => {
    const begin = performance.now();
    const late = Date.now() - planned;
    const loading = load(
      service.url,
      payments.map((payment) => ({ ...payment, at: payment.at + late })),
    );
    // Awaited below; until then a failure must not end the process.
    loading.catch(() => undefined);
    // The next block: one block more or less in the measured time would be the payments of two seconds.
    const blockAfter = async (second: number) => {
      await sleep(Math.max(1, begin + 1000 * second - performance.now()));
      for (const last = await provider.getBlockNumber(); (await provider.getBlockNumber()) === last; ) await sleep(20);
      return { ...moment(), ...(await queueAt()) };
    };
    const measured = { from: await blockAfter(WARM_UP), to: await blockAfter(WARM_UP + SECONDS) };
    await loading;
    while ((await queueAt()).queued > 0) await sleep(1000);
    return measured;
  });
  const settled = await pool.queryFilter(pool.getEvent("Settled"), from.block + 1, to.block);
  const appends = await pool.queryFilter(pool.getEvent("Appended"), from.block + 1);
  const blocks = settled.map((event) => {
    const { leafIndex } = (event as EventLog).args;
    const append = appends.find((each) => {
      const { startIndex, count } = (each as EventLog).args;
      return startIndex <= leafIndex && leafIndex < startIndex + count;
    });
    return append!.blockNumber - event.blockNumber;
  });
  blocks.sort((a, b) => a - b);
  print("settle.2s.perSecond", (1000 * settled.length) / (to.time - from.time), "payments/s");
  print("settle.2s.queued.first", from.queued, "notes");
  print("settle.2s.queued.last", to.queued, "notes");
  print("settle.2s.spendable.p50", quantile(blocks, 0.5), "blocks");
  print("settle.2s.spendable.p99", quantile(blocks, 0.99), "blocks");
  const measured = appends.filter(({ blockNumber }) => blockNumber <= to.block);
  const notes = measured.reduce((sum, event) => sum + Number((event as EventLog).args["count"]), 0);
  print("settle.2s.append.notes", notes / measured.length, "notes");
  for (const [name, value] of cores(from, to, service.child.pid!)) print(`settle.2s.cores.${name}`, value, "cores");
}
