// A client that is killed at any point resumes from that point and pays once.

import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryStore, openPurchases, type PurchaseStage, type Store, wrapFetch } from "@sotto/client";
import { SqliteStore } from "@sotto/client/sqlite";
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { SmallServer } from "../world/small-server.ts";
import { fund, openWallet, openWorld, type World } from "../world/wallets.ts";
import type { ClientReport, ClientTask } from "./support/client-process.ts";

const PRICE = 10_000n;
/** Stages at which the client communicates with the server, the service or the chain, between writes to its store. */
const STAGES: PurchaseStage[] = ["verifying", "settling", "presenting"];

describe("a client that is killed", function () {
  slow(this, "a chain, a service and proofs");
  const folder = mkdtempSync(join(tmpdir(), "sotto-client-"));
  let world: World;
  let server: SmallServer;
  before(async () => {
    world = await openWorld();
    server = await SmallServer.open(world, await openWallet(world), { price: PRICE });
  });
  after(async () => {
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The report of a client process; undefined if it was killed. */
  function run(task: ClientTask): Promise<ClientReport | undefined> {
    const child = fork(join(import.meta.dirname, "support", "client-process.ts"), [], { stdio: "inherit" });
    let report: ClientReport | undefined;
    child.once("message", (message: ClientReport) => {
      report = message;
    });
    child.send(task);
    return new Promise((resolve) => child.once("exit", () => resolve(report)));
  }
  const salesOf = (target: string) => server.sales.filter((sale) => sale.target === target).length;

  it("at any stage pays once and gets the resource", async () => {
    const seed = Buffer.from(new Uint8Array(32).map((_, i) => 5 * i + 3));
    const store = join(folder, "wallet.sqlite");
    const owner = await openWallet(world, { seed, store: new SqliteStore(store) });
    await fund(
      world,
      owner,
      STAGES.map(() => 3n * PRICE),
    );
    const { chainId, pool, token, deploymentBlock, serviceUrl, node } = world;
    const place = { chainId, pool, token, deploymentBlock, serviceUrl, node: { url: node.url } };
    const task = { world: place, seed: seed.toString("hex"), store, maxPerRequest: String(PRICE) };
    const target = (stage: string) => `/killed/${stage}`;
    let left: string[] = [];
    for (const stage of STAGES) {
      // First the purchase that the previous process left unfinished, then one during which the client dies.
      const urls = [...left, target(stage)].map((path) => server.url + path);
      expect(await run({ ...task, urls, dieAt: stage }), stage).to.equal(undefined);
      for (const path of left) expect(salesOf(path), path).to.equal(1);
      left = [target(stage)];
    }
    const report = await run({ ...task, urls: left.map((path) => server.url + path) });
    expect(report).to.deep.equal({ answers: left.map((path) => `sold ${path} `) });
    const after = await openWallet(world, { seed, store: new SqliteStore(store) });
    await after.scan();
    expect(after.balance().total).to.equal(BigInt(STAGES.length) * 2n * PRICE);
    expect(after.history().filter(({ state }) => state === "settled")).to.have.length(STAGES.length);
    expect(await openPurchases(after)).to.deep.equal([]);
  });

  it("after the server answered detects the answer when it restarts, and does not pay again", async () => {
    const seed = Buffer.from(new Uint8Array(32).map((_, i) => 7 * i + 1));
    const store = join(folder, "answered.sqlite");
    const owner = await openWallet(world, { seed, store: new SqliteStore(store) });
    await fund(world, owner, [3n * PRICE]);
    const { chainId, pool, token, deploymentBlock, serviceUrl, node } = world;
    const place = { chainId, pool, token, deploymentBlock, serviceUrl, node: { url: node.url } };
    const task = { world: place, seed: seed.toString("hex"), store, maxPerRequest: String(PRICE) };
    const urls = [`${server.url}/answered`];
    expect(await run({ ...task, urls, dieAt: "answered" })).to.equal(undefined);
    // The client died before it stored the response. The server has served the request, and accepts the proof only once.
    expect(salesOf("/answered")).to.equal(1);
    expect(await run({ ...task, urls })).to.deep.equal({ answers: ["PAID_BUT_REFUSED"] });
    const after = await openWallet(world, { seed, store: new SqliteStore(store) });
    await after.scan();
    expect(after.balance().total).to.equal(2n * PRICE);
  });

  it("between any two writes to its store pays once and gets the resource", async () => {
    const seed = new Uint8Array(32).map((_, i) => 11 * i + 9);
    const disk = new MemoryStore();
    const owner = await openWallet(world, { seed, store: disk });
    await fund(
      world,
      owner,
      Array.from({ length: 24 }, () => 2n * PRICE),
    );
    const buy = async (store: Store, target: string) => {
      const wallet = await openWallet(world, { seed, store });
      await wallet.scan();
      const pay = wrapFetch(fetch, wallet, { services: [world.serviceUrl], maxPerRequest: PRICE });
      return async () => (await pay(server.url + target)).text();
    };
    let died = 0;
    for (let writes = 0; ; writes += 1) {
      const target = `/write/${writes}`;
      const { store, live } = mortal(disk);
      const answer = await buy(store, target);
      live(writes);
      const answered = await answer().catch((error: Error) => error.message);
      if (answered === `sold ${target} `) break;
      expect(answered).to.equal("the process died");
      died += 1;
      const sold = salesOf(target);
      // A restarted process knows only the data on disk.
      const again = await buy(mortal(disk).store, target);
      if (sold === 0) expect(await again(), target).to.equal(`sold ${target} `);
      else expect((await rejection(again())).code, target).to.equal("PAID_BUT_REFUSED");
      expect(salesOf(target), target).to.equal(1);
    }
    expect(died).to.be.greaterThan(7);
    const after = await openWallet(world, { seed, store: disk });
    await after.scan();
    expect(after.balance().total).to.equal(48n * PRICE - BigInt(died + 1) * PRICE);
  });
});

/** A store on which every write after this number of writes fails. */
function mortal(disk: Store): { store: Store; live: (writes: number) => void } {
  let left = Number.POSITIVE_INFINITY;
  const alive = () => {
    if (left < 0) throw new Error("the process died");
  };
  const write = async (action: () => Promise<void>) => {
    left -= 1;
    alive();
    return action();
  };
  const store: Store = {
    get: async (key) => {
      alive();
      return disk.get(key);
    },
    list: async (prefix) => {
      alive();
      return disk.list(prefix);
    },
    batch: (changes) => write(() => disk.batch(changes)),
    put: (key, value, expected) => write(() => disk.put(key, value, expected)),
    delete: (key, expected) => write(() => disk.delete(key, expected)),
    close: async () => undefined,
  };
  return {
    store,
    live: (writes) => {
      left = writes;
    },
  };
}
