// A client that is killed at any point resumes from that point and pays once.

import { fork } from "node:child_process";
import { join } from "node:path";
import { openPurchases, PURCHASE_STATES, type PurchaseStateName, spentOn, wrapFetch } from "@sotto/client";
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { SmallServer } from "@sotto/test-world/small-server";
import { fund, openWallet, openWorld, type World } from "@sotto/test-world/wallets";
import { MemoryStore, type Store } from "@sotto/wallet";
import { SqliteStore } from "@sotto/wallet/sqlite";
import { expect } from "chai";
import type { ClientAnswer, ClientTask } from "./support/client-process.ts";

const PRICE = 10_000n;
/** How a client gets into each state before it is killed there, and what the next call with the same key returns. */
interface Crash {
  /** The response's body, or the error's code. Default: the resource, because the purchase is resumed. */
  readonly again?: string;
  /** Whether a client was killed before, when the server had just answered the proof. */
  readonly answered?: boolean;
  /** Whether the purchase is aborted before it proves. */
  readonly abort?: boolean;
}

/** A state that is added to the table fails here until it has its crash. */
const CRASHES: Record<PurchaseStateName, Crash> = {
  begun: {},
  proving: {},
  proved: {},
  sent: {},
  verified: {},
  paid: {},
  shown: {},
  // The killed client did not store the response. The server has served the request, and accepts the proof only once.
  stopped: { answered: true, again: "PAID_BUT_REFUSED" },
  finished: { again: "PURCHASE_FINISHED" },
  abandoned: { abort: true },
};

describe("a client that is killed", function () {
  slow(this, "a chain, a service and proofs");
  const folder = temporaryFolder("client");
  let world: World;
  let server: SmallServer;
  before(async () => {
    world = await openWorld();
    server = await SmallServer.open(world, await openWallet(world), { price: PRICE });
  });
  after(async () => {
    await server?.close();
  });

  /** Runs a client process. @returns its answers, and whether it was killed */
  function run(task: ClientTask): Promise<{ answers: ClientAnswer[]; killed: boolean }> {
    const child = fork(join(import.meta.dirname, "support", "client-process.ts"), [], { stdio: "inherit" });
    const answers: ClientAnswer[] = [];
    child.on("message", (answer: ClientAnswer) => void answers.push(answer));
    child.send(task);
    return new Promise((resolve) =>
      child.once("exit", (_code, signal) => resolve({ answers, killed: signal === "SIGKILL" })),
    );
  }
  const salesOf = (target: string) => server.sales.filter((sale) => sale.target === target).length;

  it("in any state of a purchase pays once and gets the resource, with exact balances", async () => {
    expect(Object.keys(CRASHES)).to.deep.equal(Object.keys(PURCHASE_STATES));
    const seed = Buffer.from(new Uint8Array(32).map((_, i) => 5 * i + 3));
    const store = join(folder, "wallet.sqlite");
    const owner = await openWallet(world, { seed, store: new SqliteStore(store) });
    const states = Object.keys(PURCHASE_STATES) as PurchaseStateName[];
    const began = Date.now();
    await fund(
      world,
      owner,
      states.map(() => 3n * PRICE),
    );
    const { chainId, pool, token, deploymentBlock, serviceUrl, node } = world;
    const place = { chainId, pool, token, deploymentBlock, serviceUrl, node: { url: node.url } };
    const task = { world: place, seed: seed.toString("hex"), store, maxPerRequest: String(PRICE) };
    /** The purchase during which the previous process died, and what its next call returns. */
    let left: { url: string; again: string }[] = [];
    const runLeft = async (url: string[], how: Partial<ClientTask>) => {
      // First the purchase that the previous process left unfinished, then one during which the client dies.
      const urls = [...left.map((each) => each.url), ...url];
      const { answers, killed } = await run({ ...task, urls, ...how });
      expect(answers, urls.at(-1)).to.deep.equal(left.map(({ again }) => again));
      expect(killed, urls.at(-1)).to.equal(url.length > 0);
      left = [];
    };
    for (const state of states) {
      const { again = `sold /killed/${state} `, answered = false, abort = false } = CRASHES[state];
      const url = `${server.url}/killed/${state}`;
      if (answered) await runLeft([url], { dieAnswered: true });
      await runLeft([url], { dieIn: state, abort });
      left = [{ url, again }];
    }
    await runLeft([], {});
    for (const state of states) expect(salesOf(`/killed/${state}`), state).to.equal(1);
    const after = await openWallet(world, { seed, store: new SqliteStore(store) });
    await after.scan();
    expect(after.balance().total).to.equal(BigInt(states.length) * 2n * PRICE);
    const days = new Map([began, Date.now()].map((time) => [new Date(time).getUTCDate(), time]));
    const spent = await Promise.all([...days.values()].map((day) => spentOn(after.store, day)));
    expect(spent.reduce((a, b) => a + b)).to.equal(BigInt(states.length) * PRICE);
    expect(after.history().filter(({ state }) => state === "settled")).to.have.length(states.length);
    expect((await openPurchases(after)).map(({ step }) => step)).to.deep.equal(["stopped"]);
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

/** A store that fails all writes after the next `writes` of them. */
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
