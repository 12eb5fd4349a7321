import { fork } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { join } from "node:path";
import { decodeEvent, type LogQuery, type SettledEvent } from "@sotto/chain";
import type { Month } from "@sotto/protocol";
import { POOL } from "@sotto/test-chain/pool";
import { anyRejection, rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { IdleSearch, MemoryStore, type Store, ViewingWallet, type Wallet } from "@sotto/wallet";
import { SqliteStore } from "@sotto/wallet/sqlite";
import { expect } from "chai";
import { NoteReader } from "../src/scan/note-reader.ts";
import { searchRange } from "../src/scan/search.ts";
import { MARCH, paidLate, SEARCHER } from "./support/late.ts";
import { nodeOf } from "./support/several-nodes.ts";
import { dyingStore, URL, type World, watchedStore } from "./support/world.ts";

type Late = Awaited<ReturnType<typeof paidLate>>;

describe("a search", function () {
  slow(this, "a wallet is reopened after every write");
  let world: World;
  let merchant: Wallet;
  let pay: Late["pay"];
  let payNothing: Late["payNothing"];
  beforeEach(async () => {
    ({ world, merchant, pay, payNothing } = await paidLate());
    await merchant.scan();
  });

  const open = (store: Store = new MemoryStore()) => world.wallet({ seed: SEARCHER, store });
  const amounts = (wallet: Wallet) => wallet.notes().map(({ amount, month, state }) => [amount, month, state]);
  const FIRST = [300n, MARCH, "spendable"];
  const BOTH = [FIRST, [900n, MARCH, "spendable"]];

  /** Spends the late note by a payment that leaves 150 base units, from a wallet that found it. */
  async function spendLate(): Promise<void> {
    const recipient = { ...world.recipient(await world.wallet()) };
    world.settle(await merchant.pay({ recipient, amount: 750n, resourceUrl: URL }));
    await world.append();
  }

  it("finds a payment to March's address that was made in May, which a scan does not see", async () => {
    expect(amounts(merchant)).to.deep.equal([FIRST]);
    expect(await merchant.search()).to.equal(1);
    expect(amounts(merchant)).to.deep.equal(BOTH);
    expect(merchant.balance().spendable).to.equal(1_200n);
    const listed = (await merchant.payments({ decimals: 6 })).map(({ amount, outsideMonth }) => [amount, outsideMonth]);
    expect(listed).to.deep.equal([
      [300n, false],
      [900n, true],
    ]);
    expect(await merchant.search()).to.equal(0);
  });

  it("makes what it found spendable, and finds that it was spent", async () => {
    await merchant.search();
    await spendLate();
    await merchant.scan();
    expect(merchant.balance().total).to.equal(450n);
    // A wallet of the same words sees neither the note nor its spend before its search.
    const restored = await open();
    await restored.scan();
    expect(amounts(restored)).to.deep.equal([FIRST]);
    expect(await restored.search()).to.equal(1);
    expect(restored.notes()).to.deep.equal(merchant.notes());
    expect(restored.notes().map(({ state }) => state)).to.deep.equal(["spendable", "spent", "spendable"]);
  });

  it("keeps what it found when the wallet is opened again, and after later scans", async () => {
    const store = new MemoryStore();
    const wallet = await open(store);
    await wallet.scan();
    await wallet.search();
    await pay("2027-05" as Month, 55n);
    const reopened = await open(store);
    await reopened.scan();
    expect(reopened.balance().total).to.equal(1_255n);
    expect(await reopened.search()).to.equal(0);
  });

  it("follows a scan of all blocks if the store is of a version that did not know months", async () => {
    const store = new MemoryStore();
    const { blocks } = await (await open(store)).scan();
    await store.batch([{ delete: "scan/keys" }]);
    expect((await (await open(store)).scan()).blocks).to.equal(blocks);
    expect((await (await open(store)).scan()).blocks).to.equal(0);
  });

  it("continues with the blocks that it has not read, and reads each only once", async () => {
    await merchant.search();
    await pay(MARCH, 70n);
    await merchant.scan();
    expect(merchant.balance().total).to.equal(1_200n);
    const blocks: number[] = [];
    expect(await merchant.search({ onProgress: ({ block }) => blocks.push(block) })).to.equal(1);
    expect(blocks).to.deep.equal([world.chain.height]);
    expect(merchant.balance().total).to.equal(1_270n);
  });

  it("stops when its signal is aborted, and continues later", async () => {
    const store = new MemoryStore();
    const wallet = await world.wallet({ seed: SEARCHER, store, rangeSize: 2 });
    await wallet.scan();
    const stop = new AbortController();
    const reason = new Error("a payment begins");
    const stopped = wallet.search({ signal: stop.signal, onProgress: () => stop.abort(reason) });
    expect(await anyRejection(stopped)).to.equal(reason);
    expect(await wallet.search()).to.equal(1);
    expect(wallet.balance().total).to.equal(1_200n);
  });

  it("lets payments be made meanwhile", async () => {
    const recipient = world.recipient(await world.wallet());
    const request = { recipient, amount: 100n, resourceUrl: URL };
    const [found, payment] = await Promise.all([merchant.search(), merchant.pay(request)]);
    expect(found).to.equal(1);
    world.settle(payment);
    await world.append();
    await merchant.scan();
    expect(merchant.balance().total).to.equal(1_100n);
  });

  it("searches blocks again that a reorganization replaced", async () => {
    world.chain.mineMany(6);
    await merchant.scan();
    expect(await merchant.search()).to.equal(1);
    world.chain.takeBack(8);
    await pay("2027-05" as Month, 50n);
    await pay(MARCH, 60n);
    await merchant.scan();
    expect(merchant.balance().total).to.equal(350n);
    expect(await merchant.search()).to.equal(1);
    expect(merchant.balance().total).to.equal(410n);
  });

  it("does not take blocks for searched whose events a lagging node omits", async () => {
    let isBehind = false;
    const logs = (query: LogQuery) => (isBehind ? Promise.resolve([]) : world.chain.logs(query));
    const wallet = await world.wallet({ seed: SEARCHER, chain: nodeOf(world.chain, { logs }) });
    await wallet.scan();
    isBehind = true;
    expect((await rejection(wallet.search())).code).to.equal("NODE_INCONSISTENT");
    isBehind = false;
    expect(await wallet.search()).to.equal(1);
    expect(wallet.balance().total).to.equal(1_200n);
  });

  it("searches blocks again if a reorganization changes them meanwhile", async () => {
    world.chain.mineMany(6);
    let replace: (() => Promise<void>) | undefined;
    const logs = async (query: LogQuery) => {
      const found = await world.chain.logs(query);
      const replaceNow = replace;
      replace = undefined;
      await replaceNow?.();
      return found;
    };
    const wallet = await world.wallet({ seed: SEARCHER, chain: nodeOf(world.chain, { logs }) });
    await wallet.scan();
    replace = async () => {
      world.chain.takeBack(8);
      await pay("2027-05" as Month, 50n);
      await pay(MARCH, 60n);
      world.chain.mineMany(8);
      await wallet.scan();
    };
    expect((await rejection(wallet.search())).code).to.equal("NODE_INCONSISTENT");
    expect(await wallet.search()).to.equal(1);
    expect(wallet.balance().total).to.equal(410n);
  });

  it("searches blocks again that a scan replaces while their payments are tried", async () => {
    world.chain.mineMany(6);
    let replace: (() => Promise<void>) | undefined;
    let scan: Promise<unknown> | undefined;
    const logs = async (query: LogQuery) => {
      const found = await world.chain.logs(query);
      const replaceNow = replace;
      replace = undefined;
      await replaceNow?.();
      return found;
    };
    const wallet = await world.wallet({ seed: SEARCHER, chain: nodeOf(world.chain, { logs }) });
    await wallet.scan();
    replace = async () => {
      world.chain.takeBack(8);
      await pay("2027-05" as Month, 50n);
      await pay(MARCH, 60n);
      world.chain.mineMany(8);
      // It has the wallet until after the payments of the old blocks were tried.
      scan = wallet.scan();
    };
    expect(await wallet.search()).to.equal(1);
    await scan;
    expect(wallet.balance().total).to.equal(410n);
  });

  it("reads the pages again once, however many ranges have payments", async () => {
    for (let i = 0; i < 5; i += 1) await pay(MARCH, 10n);
    let reads = 0;
    const logs = async (query: LogQuery) => {
      if (query.from === 0) reads += 1;
      return world.chain.logs(query);
    };
    const wallet = await world.wallet({ seed: SEARCHER, chain: nodeOf(world.chain, { logs }), rangeSize: 3 });
    await wallet.scan();
    reads = 0;
    let ranges = 0;
    const onProgress = () => {
      ranges += 1;
    };
    expect(await wallet.search({ onProgress })).to.equal(6);
    expect(ranges).to.be.greaterThan(3);
    // One of the search, and one of the scan.
    expect(reads).to.equal(2);
    expect(wallet.balance().total).to.equal(1_250n);
  });

  it("ignores payments of 0", async () => {
    await payNothing(MARCH);
    await merchant.scan();
    expect(await merchant.search()).to.equal(1);
    expect(await merchant.search()).to.equal(0);
    expect(amounts(merchant)).to.deep.equal(BOTH);
  });

  it("loses nothing if the process dies between any two writes", async () => {
    await merchant.search();
    await spendLate();
    await merchant.scan();
    const find = async (store: Store) => {
      const wallet = await open(store);
      await wallet.scan();
      await wallet.search();
    };
    let writes = 0;
    await find(
      watchedStore(new MemoryStore(), () => {
        writes += 1;
      }),
    );
    expect(writes).to.be.greaterThan(4);
    for (const after of [false, true])
      for (let n = 0; n < writes; n += 1) {
        const title = `${after ? "after" : "before"} write ${n} of ${writes}`;
        const disk = new MemoryStore();
        const death = await anyRejection(find(dyingStore(disk, n, after)));
        expect(death.message, title).to.equal("the process died");
        const reopened = await open(disk);
        await reopened.scan();
        await reopened.search();
        expect(reopened.notes(), title).to.deep.equal(merchant.notes());
      }
  });

  it("loses nothing if a write fails while the process lives", async () => {
    const disk = new MemoryStore();
    let isFull = false;
    const store = watchedStore(disk, () => {
      if (isFull) throw new Error("the disk is full");
    });
    const wallet = await open(store);
    await wallet.scan();
    isFull = true;
    expect((await anyRejection(wallet.search())).message).to.equal("the disk is full");
    isFull = false;
    await wallet.scan();
    expect(await wallet.search()).to.equal(1);
    expect(wallet.balance().total).to.equal(1_200n);
  });

  it("is finished by the next scan if the process is killed between the record and the scan", async () => {
    const path = join(temporaryFolder("search"), "wallet.sqlite");
    const child = fork(join(import.meta.dirname, "support", "killed-search.ts"), [path]);
    expect(await once(child, "exit")).to.deep.equal([null, "SIGKILL"]);
    const store = new SqliteStore(path);
    const wallet = await open(store);
    expect(wallet.balance().total).to.equal(0n);
    await wallet.scan();
    expect(amounts(wallet)).to.deep.equal(BOTH);
    await store.close();
  });

  it("ends a range early where payments are frequent, leaves out none, and names the leaves that it tried", async () => {
    const log = world.chain.blocks
      .flatMap(({ logs }) => logs)
      .findLast((each) => decodeEvent(each)?.type === "settled")!;
    const { ownerTag, keys } = merchant.viewingKeys({ months: [MARCH] });
    const event = decodeEvent(log) as SettledEvent;
    const leaves = [event.recipientCommitment, event.changeCommitment];
    const search = async (perBlock: number) => {
      const logs = async ({ from, to }: LogQuery) =>
        Array.from({ length: to - from + 1 }, (_, i) =>
          Array.from({ length: perBlock }, () => ({ ...log, blockNumber: from + i })),
        ).flat();
      const leavesOf = (from: number, to: number) =>
        Array.from({ length: (to - from + 1) * perBlock }, () => leaves).flat();
      const reader = new NoteReader(() => []);
      const viewing = keys.map(({ viewingKey: key, month }) => ({ month, key }));
      // A scan replaces the blocks while their payments are tried.
      let isReplaced = false;
      const isKnown = () => {
        isReplaced = true;
        return false;
      };
      const known = (from: number, to: number) => (isReplaced ? [] : leavesOf(from, to));
      const range = { from: 10, to: 14, pool: POOL, keys: { ownerTag }, viewing, reader, leavesOf: known, isKnown };
      const { to, found, leaves: tried } = await searchRange({ ...range, chain: nodeOf(world.chain, { logs }) });
      expect(tried).to.deep.equal(leavesOf(range.from, to));
      return [to, found.length];
    };
    expect(await search(300)).to.deep.equal([14, 1_500]);
    expect(await search(700)).to.deep.equal([11, 1_400]);
    expect(await search(2_049)).to.deep.equal([10, 2_049]);
  });

  describe("while a program is idle", () => {
    /** @returns a search that is started, its results, and a promise of its next end */
    function idle(wallet: Wallet) {
      const [found, errors]: [number[], unknown[]] = [[], []];
      const ends = new EventEmitter();
      const next = () => once(ends, "end");
      const ended = <T>(list: T[], value: T) => {
        list.push(value);
        ends.emit("end");
      };
      const onSearched = (count: number) => ended(found, count);
      const onError = (error: unknown) => ended(errors, error);
      const search = new IdleSearch({ wallet, onSearched, onError });
      search.start();
      return { search, found, errors, next };
    }

    it("finds the payment and reports it once, however often it is started", async () => {
      const { search, found, errors, next } = idle(merchant);
      search.start();
      await next();
      await search.stop();
      search.start();
      await next();
      expect([found, errors]).to.deep.equal([[1, 0], []]);
      expect(amounts(merchant)).to.deep.equal(BOTH);
    });

    it("is stopped for a payment without an error, and continues afterwards", async () => {
      const { search, found, errors, next } = idle(merchant);
      await search.stop();
      expect(amounts(merchant)).to.deep.equal([FIRST]);
      search.start();
      await next();
      expect([found, errors]).to.deep.equal([[1], []]);
    });

    it("reports a node that fails, and continues when it answers", async () => {
      let isDown = false;
      const logs = async (query: LogQuery) => {
        if (isDown) throw new Error("the node is down");
        return world.chain.logs(query);
      };
      const wallet = await world.wallet({ seed: SEARCHER, chain: nodeOf(world.chain, { logs }) });
      await wallet.scan();
      isDown = true;
      const { search, found, errors, next } = idle(wallet);
      await next();
      await search.stop();
      isDown = false;
      search.start();
      await next();
      expect(errors.map(String)).to.deep.equal(["Error: the node is down"]);
      expect(found).to.deep.equal([1]);
    });
  });

  describe("of a viewing wallet", () => {
    const view = (months: readonly string[], store: Store = new MemoryStore()) =>
      ViewingWallet.open({
        chain: world.chain,
        chainId: 31337n,
        pool: POOL,
        deploymentBlock: 0,
        finality: 0,
        keys: merchant.viewingKeys({ months: months as Month[] }),
        store,
      });

    it("finds the payment with March's key, and nothing with those of April and May", async () => {
      const march = await view([MARCH]);
      await march.scan();
      expect(march.total()).to.equal(300n);
      expect(await march.search()).to.equal(1);
      expect(march.received().map(({ amount, month }) => [amount, month])).to.deep.equal([
        [300n, MARCH],
        [900n, MARCH],
      ]);
      const others = await view(["2027-04", "2027-05"]);
      await others.scan();
      expect(await others.search()).to.equal(0);
      expect(others.received()).to.deep.equal([]);
    });

    it("ignores payments of 0, of its month and of another", async () => {
      await payNothing(MARCH);
      await payNothing("2027-05" as Month);
      const wallet = await view([MARCH, "2027-05"]);
      await wallet.scan();
      expect(await wallet.search()).to.equal(1);
      expect(wallet.received().map(({ amount }) => amount)).to.deep.equal([300n, 900n]);
    });

    it("begins again with a key that it did not have before", async () => {
      const store = new MemoryStore();
      const april = await view(["2027-04"], store);
      await april.scan();
      expect(await april.search()).to.equal(0);
      const both = await view(["2027-04", MARCH], store);
      await both.scan();
      expect(both.total()).to.equal(300n);
      expect(await both.search()).to.equal(1);
      expect(both.total()).to.equal(1_200n);
    });

    it("forgets what it found with a key that was removed", async () => {
      const store = new MemoryStore();
      const both = await view(["2027-04", MARCH], store);
      await both.scan();
      expect(await both.search()).to.equal(1);
      const april = await view(["2027-04"], store);
      expect(april.received()).to.deep.equal([]);
      expect(JSON.stringify(await store.list(""))).to.not.include(MARCH);
      const again = await view(["2027-04", MARCH], store);
      await again.scan();
      await again.search();
      expect(again.total()).to.equal(1_200n);
    });
  });
});
