// `pnpm bench relayer`: settles payments with and without a thousand queued deposits that can never succeed.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@sotto/test-kit/eventually";
import { TestChain } from "@sotto/test-world/relayer/chain";
import { authorizedDeposit, enqueue, enqueueDeposit, type Service, Services } from "@sotto/test-world/relayer/service";
import { HDNodeWallet, Wallet } from "ethers";
import type { Print } from "./main.ts";

export const about = "payments through the relayer, with and without 1,000 dead operations; the node has 40 ms latency";

const LATENCY_MS = 40;
/** Minimum number of dead operations in the store during a measurement; each turn replaces those that have failed. */
const DEAD = 1_000;
const SPARE = 200;
/** The relayers with and without dead operations take turns; each client settles its payments one after another. */
const TURNS = 15;
const CLIENTS = 4;
const PAYMENTS = 20;
/** Hardhat's public accounts, one per relayer: relayers with separate stores must not share one. */
const MNEMONIC = "test test test test test test test test test test test junk";
const keyOf = (index: number) => HDNodeWallet.fromPhrase(MNEMONIC, undefined, `m/44'/60'/0'/0/${index}`).privateKey;

/** A proxy that forwards requests to a node at once, and its responses after the latency. */
async function openDistantNode(target: string): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const headers = { "content-type": "application/json" };
    const answer = await fetch(target, { method: "POST", headers, body: Buffer.concat(parts) });
    const text = await answer.text();
    await sleep(LATENCY_MS);
    response.end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/**
 * Replaces the dead operations that have failed by new deposits from an account without tokens. Half of them are marked as
 * sent before.
 */
async function fill({ store }: Service, chain: TestChain): Promise<void> {
  const { queued } = await store.operations.counts();
  const lease = (await store.leases.acquire("relayer", "bench", 600_000))!;
  for (let index = queued; index < DEAD + SPARE; index += 1) {
    const account = new Wallet(Wallet.createRandom().privateKey);
    const id = await enqueueDeposit(store, await authorizedDeposit(chain, account, [1_000_000n]));
    if (index % 2 === 0) continue;
    const transaction = { id, kind: "deposit" as const, sender: account.address, nonce: 0, to: "0x02", data: "0x" };
    const attempt = { hash: account.address, raw: "0x", maxFee: 1n, maxPriority: 1n };
    await store.asRelayer(lease, async ({ outbox }) => {
      await outbox.record({ ...transaction, gasLimit: 1n, day: "2026-01-01" }, attempt, [id]);
      await outbox.dropped(id);
    });
  }
  await store.leases.release(lease);
}

/** @returns milliseconds from submitting each payment until it is settled */
async function settleAll({ store, relayer }: Service, chain: TestChain): Promise<number[]> {
  const payments = await Promise.all(Array.from({ length: PAYMENTS }, () => chain.payment()));
  const times: number[] = [];
  const client = async () => {
    for (let payment = payments.pop(); payment !== undefined; payment = payments.pop()) {
      const start = performance.now();
      const id = await enqueue(store, payment);
      relayer.wake();
      const { state, reason } = await relayer.waitFor(id, 120_000);
      if (state !== "settled") throw new Error(`a payment of the bench is ${state}: ${reason}`);
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return times;
}

const p99 = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[Math.ceil(0.99 * times.length) - 1]!;

export async function run(print: Print): Promise<void> {
  const chain = await TestChain.start();
  const node = await openDistantNode(chain.node.url);
  const services = new Services(chain);
  const relayers = [
    { key: keyOf(1), storeUrl: services.newStoreUrl(), dead: true, times: [] as number[] },
    { key: keyOf(2), storeUrl: services.newStoreUrl(), dead: false, times: [] as number[] },
  ] as const;
  let fewest = Number.POSITIVE_INFINITY;
  try {
    for (let turn = 1; turn <= TURNS; turn += 1) {
      process.stderr.write(`  turn ${turn} of ${TURNS}\n`);
      for (const { key, storeUrl, dead, times } of relayers) {
        const service = await services.open({ key, storeUrl, urls: [node.url] });
        if (dead) await fill(service, chain);
        service.relayer.start();
        await eventually(async () => service.rounds() > 0);
        times.push(...(await settleAll(service, chain)));
        if (dead) fewest = Math.min(fewest, (await service.store.operations.counts()).queued);
        await services.stop(service);
      }
    }
  } finally {
    await services.stopAll();
    await node.close();
    await chain.stop();
  }
  if (fewest < DEAD) throw new Error(`only ${fewest} dead operations were left at the end of a turn`);
  const [beside, without] = relayers.map(({ times }) => p99(times)) as [number, number];
  print("relayer.payment.p99.ms", beside, "ms");
  print("relayer.payment.alone.p99.ms", without, "ms");
  print("relayer.payment.p99.ratio", beside / without, "times");
}
