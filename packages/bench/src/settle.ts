import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { median } from "@sotto/command/median";
import { quantile } from "@sotto/command/quantile";
import { shieldedPoolAbi } from "@sotto/protocol";
import { FaultyNode } from "@sotto/test-kit/faulty-node";
import { post } from "@sotto/test-kit/http";
import { forgeBundle, settleRequest } from "@sotto/test-world/bundles";
import { closeWorld, environment, openWorld, relayerKey, type World } from "@sotto/test-world/service";
import { type ServiceProcess, startProcess, stopProcess } from "@sotto/test-world/service-process";
import { Contract } from "ethers";
import { BLOCK_SECONDS, measureOnSlowNode, withSlowBlocks } from "./inputs/slow-node.ts";
import type { Print } from "./main.ts";

export const about = "settling through the service (separate process, SQLite, local node): rate, times, gas";

/** What measures the rate, in each of several turns: all payments are verified first, and then submitted by the clients. */
const RATE = { turns: 5, payments: 256, clients: 64 };
/** Number of payments that measure the times: each client settles its payments one after another. */
const TIMES = { payments: 64, clients: 4 };
/** Payments that wait for one and for three accounts of the relayer, in turns, by the time between two blocks. */
const ACCOUNTS = [
  { blockSeconds: BLOCK_SECONDS, payments: 512, turns: 3 },
  // All are settled before the service answers that they are pending, after a minute.
  { blockSeconds: 12, payments: 900, turns: 1 },
];
const SPENDABLE = 8;
const WAITING = [1, 8, 64];

type Request = Record<string, unknown>;

/** Verifies payments. @returns the requests that settle them */
async function prepare(world: World, url: string, count: number): Promise<Request[]> {
  const { root } = world;
  const requests: Request[] = [];
  for (let i = 0; i < count; i += 1) {
    const bundle = forgeBundle(world, { root });
    const { body } = await post(`${url}/verify`, bundle);
    if (body["valid"] !== true)
      throw new Error(`the service rejected a payment of the bench: ${String(body["reason"])}`);
    requests.push(settleRequest(bundle, body["paymentToken"]));
  }
  return requests;
}

/** @returns the transaction, and the milliseconds until the response */
async function settle(url: string, request: Request): Promise<{ hash: string; ms: number }> {
  const start = performance.now();
  const { body } = await post(`${url}/settle`, request);
  if (body["status"] !== "success") throw new Error(`a payment of the bench is ${JSON.stringify(body)}`);
  return { hash: String(body["txSignature"]), ms: performance.now() - start };
}

/** Settles all payments; each client settles one after another. @returns the time of each, ms */
async function load(url: string, requests: Request[], clients: number): Promise<number[]> {
  const left = [...requests];
  const times: number[] = [];
  const client = async () => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) times.push((await settle(url, next)).ms);
  };
  await Promise.all(Array.from({ length: clients }, client));
  return times;
}

/** Time from the response to settle until the payment's change is in the tree, ms. */
async function untilSpendable(world: World, url: string, request: Request): Promise<number> {
  const { hash } = await settle(url, request);
  const start = performance.now();
  const receipt = await world.provider.getTransactionReceipt(hash);
  for (;;) {
    const { appended, size } = await queueOf(world, receipt!.blockNumber);
    const now = await queueOf(world);
    if (now.appended >= size && now.appended > appended) return performance.now() - start;
    await sleep(10);
  }
}

async function queueOf({ provider, pool }: World, block?: number): Promise<{ size: bigint; appended: bigint }> {
  const contract = new Contract(pool, shieldedPoolAbi, provider);
  return contract.getFunction("queue")(block === undefined ? {} : { blockTag: block });
}

/** Gas per payment if all are sent together, because the node was unreachable while they were submitted. */
async function gasWhenWaiting(world: World, url: string, node: FaultyNode, requests: Request[]): Promise<number> {
  node.mode = "breaksOff";
  const settling = requests.map((request) => settle(url, request));
  await sleep(1_000);
  node.mode = "honest";
  const hashes = new Set((await Promise.all(settling)).map(({ hash }) => hash));
  let gas = 0n;
  for (const hash of hashes) gas += (await world.provider.getTransactionReceipt(hash))!.gasUsed;
  if (hashes.size !== 1)
    process.stderr.write(`  ${requests.length} waiting payments were sent in ${hashes.size} transactions\n`);
  return Number(gas) / requests.length;
}

export async function run(print: Print): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sotto-bench-settle-"));
  const world = await openWorld();
  const node = await FaultyNode.start(world.node.url);
  const start = (name: string, nodeUrl: string, settings: Record<string, string> = {}) =>
    startProcess({
      ...environment(world, mkdtempSync(join(folder, name))),
      SOTTO_LOG_LEVEL: "warn",
      SOTTO_RPC_URLS: nodeUrl,
      SOTTO_CLIENT_QUOTA: "1000000",
      SOTTO_RECIPIENT_QUOTA: "1000000",
      SOTTO_APPEND_AFTER_MS: "0",
      SOTTO_VERIFY_WORKERS: String(availableParallelism()),
      ...settings,
    });
  try {
    await withService(await start("automine", node.url), (service) =>
      measureBlockPerTransaction(world, service.url, node, print),
    );
    await withService(await start("slow", world.node.url), (service) => measureOnSlowNode(world, service, print));
    await measureAccounts(
      world,
      (keys) => start("accounts", world.node.url, { SOTTO_RELAYER_KEY: keys.join() }),
      print,
    );
  } finally {
    await node.stop();
    await closeWorld();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function withService(
  service: ServiceProcess,
  measure: (service: ServiceProcess) => Promise<void>,
): Promise<void> {
  try {
    await measure(service);
  } finally {
    await stopProcess(service);
  }
}

/** Rates at which one account and three accounts of the relayer settle payments that wait. */
async function measureAccounts(
  world: World,
  start: (keys: readonly string[]) => Promise<ServiceProcess>,
  print: Print,
): Promise<void> {
  const rateOf = async (accounts: number, blockSeconds: number, payments: number) => {
    const service = await start(Array.from({ length: accounts }, relayerKey));
    try {
      const requests = await prepare(world, service.url, payments);
      return await withSlowBlocks(world, blockSeconds, async () => {
        const begin = performance.now();
        await load(service.url, requests, payments);
        return (1000 * payments) / (performance.now() - begin);
      });
    } finally {
      await stopProcess(service);
    }
  };
  for (const { blockSeconds, payments, turns } of ACCOUNTS) {
    const rates = { one: [] as number[], three: [] as number[] };
    for (let turn = 0; turn < turns; turn += 1) {
      rates.one.push(await rateOf(1, blockSeconds, payments));
      rates.three.push(await rateOf(3, blockSeconds, payments));
    }
    print(`settle.${blockSeconds}s.accounts1.perSecond`, median(rates.one), "payments/s");
    print(`settle.${blockSeconds}s.accounts3.perSecond`, median(rates.three), "payments/s");
  }
}

/** Rate, times and gas on a node that makes a block for each transaction. */
async function measureBlockPerTransaction(world: World, url: string, node: FaultyNode, print: Print): Promise<void> {
  await load(url, await prepare(world, url, 16), 4);
  const rates: number[] = [];
  while (rates.length < RATE.turns) {
    const requests = await prepare(world, url, RATE.payments);
    const start = performance.now();
    await load(url, requests, RATE.clients);
    rates.push((1000 * RATE.payments) / (performance.now() - start));
  }
  print("settle.perSecond", median(rates), "payments/s");
  const times = await load(url, await prepare(world, url, TIMES.payments), TIMES.clients);
  print("settle.p50.ms", quantile(times, 0.5), "ms");
  print("settle.p99.ms", quantile(times, 0.99), "ms");
  const spendable: number[] = [];
  for (const request of await prepare(world, url, SPENDABLE)) spendable.push(await untilSpendable(world, url, request));
  print("spendable.p50.ms", quantile(spendable, 0.5), "ms");
  for (const count of WAITING) {
    const gas = await gasWhenWaiting(world, url, node, await prepare(world, url, count));
    print(`gas.perPayment.${count}`, gas, "gas");
  }
}
