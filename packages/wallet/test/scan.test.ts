import { decodeEvent } from "@sotto/chain";
import { depositCall } from "@sotto/chain/ethers";
import { deriveKeys, paymentSignals } from "@sotto/protocol";
import { POOL } from "@sotto/test-chain/pool";
import { rejection } from "@sotto/test-kit/rejection";
import { MemoryStore, NoteScanner, walletScanKeys } from "@sotto/wallet";
import { expect } from "chai";
import { URL, World } from "./support/world.ts";

const SEED = new Uint8Array(32).map((_, i) => 3 * i + 1);
const keys = deriveKeys(SEED, { chainId: 31337n, pool: POOL });

describe("scan", () => {
  it("scans in ranges and reports progress", async () => {
    const world = new World();
    const wallet = await world.funded([5_000n]);
    world.chain.mineMany(50);
    const fresh = await world.wallet({ rangeSize: 10 });
    const seen: number[] = [];
    const result = await fresh.scan({ onProgress: ({ block }) => seen.push(block) });
    const height = world.chain.height;
    expect(result).to.deep.equal({ blocks: height + 1, notes: 0, spends: 0, rolledBack: 0 });
    expect(seen).to.deep.equal([9, 19, 29, 39, 49, height]);
    expect(await wallet.scan()).to.deep.equal({ blocks: 50, notes: 0, spends: 0, rolledBack: 0 });
    expect((await wallet.scan()).blocks).to.equal(0);
  });

  it("halves rejected ranges, and fails only if a single block is rejected", async () => {
    const world = new World();
    await world.funded([5_000n], { seed: SEED });
    world.chain.mineMany(100);
    world.chain.mostBlocks = 7;
    world.chain.asked = [];
    const wallet = await world.wallet({ seed: SEED });
    await wallet.scan();
    expect(wallet.balance().spendable).to.equal(5_000n);
    const sizes = world.chain.asked.map(([from, to]) => to - from + 1);
    expect(sizes[0]).to.equal(103);
    expect(sizes.filter((size) => size > 7).length).to.be.lessThan(sizes.length / 2);
    world.chain.mostBlocks = 0;
    world.chain.mine();
    expect((await rejection(wallet.scan())).code).to.equal("RANGE_TOO_LARGE");
  });

  it("resumes after an abort", async () => {
    const world = new World();
    await world.funded([5_000n, 6_000n], { seed: SEED });
    world.chain.mineMany(40);
    const store = new MemoryStore();
    const first = await world.wallet({ seed: SEED, store, rangeSize: 10 });
    const stop = new AbortController();
    const stopped = await first
      .scan({ signal: stop.signal, onProgress: ({ block }) => block > 15 && stop.abort() })
      .catch((error: Error) => error.name);
    expect(stopped).to.equal("AbortError");
    world.chain.asked = [];
    const second = await world.wallet({ seed: SEED, store, rangeSize: 10 });
    await second.scan();
    expect(world.chain.asked[0]).to.deep.equal([20, 29]);
    expect(second.balance().spendable).to.equal(11_000n);
  });

  it("stores few pages even after many scans", async () => {
    const world = new World();
    const store = new MemoryStore();
    const wallet = await world.wallet({ seed: SEED, store, finality: 2 });
    for (let i = 0; i < 40; i += 1) {
      if (i % 8 === 0) await world.deposit(wallet, [2_000n]);
      world.chain.mine();
      await wallet.scan();
    }
    expect(await store.list("page/")).to.have.length.below(10);
    const reopened = await world.wallet({ seed: SEED, store, finality: 2 });
    await reopened.scan();
    expect(reopened.notes()).to.deep.equal(wallet.notes());
    expect(reopened.balance().total).to.equal(10_000n);
  });

  it("shows unconfirmed notes as pending, and neither spends them nor proves on an unconfirmed root", async () => {
    const world = new World();
    const wallet = await world.wallet({ finality: 3 });
    await world.deposit(wallet, [5_000n]);
    await wallet.scan();
    expect(wallet.balance()).to.include({ pending: 5_000n, queued: 0n, spendable: 0n, total: 5_000n });
    const request = { recipient: world.recipient(await world.wallet()), amount: 1_000n, resourceUrl: URL };
    expect((await rejection(wallet.pay(request))).code).to.equal("FUNDS_NOT_READY");
    world.chain.mineMany(3);
    await wallet.scan();
    expect(wallet.balance()).to.include({ pending: 0n, queued: 5_000n });
    await world.append();
    await wallet.scan();
    expect(wallet.balance()).to.include({ queued: 5_000n, spendable: 0n });
    expect((await rejection(wallet.pay(request))).code).to.equal("FUNDS_NOT_READY");
    world.chain.mineMany(3);
    const root = await world.chain.call({ to: POOL, data: "0xebf0c717" });
    await world.deposit(wallet, [7_000n]);
    await world.append();
    const { bundle } = await wallet.pay(request);
    expect(BigInt(paymentSignals(bundle.publicSignals).root)).to.equal(BigInt(root));
  });

  it("finds tags up to the gap limit, and never uses a tag beyond it", async () => {
    const world = new World();
    const wallet = await world.wallet({ seed: SEED });
    // A hundred deposits that are never mined.
    const indices: number[] = [];
    for (let i = 0; i < 101; i += 1) indices.push((await wallet.deposit({ amounts: [2_000n] })).keyIndex);
    expect(indices.slice(0, 100)).to.have.members(Array.from({ length: 100 }, (_, i) => i + 1));
    expect(indices[100], "the oldest, once all are used").to.equal(indices[0]);
    world.chain.mine(depositCall(POOL, [keys.ownerTag(100)], [2_000n]));
    world.chain.mine(depositCall(POOL, [keys.ownerTag(201)], [3_000n]));
    world.chain.mine(depositCall(POOL, [keys.ownerTag(200)], [4_000n]));
    const restored = await world.wallet({ seed: SEED });
    await restored.scan();
    expect(restored.notes().map(({ keyIndex }) => keyIndex)).to.deep.equal([100, 200]);
    for (let i = 0; i < 101; i += 1) {
      const { keyIndex } = await restored.deposit({ amounts: [2_000n] });
      expect(keyIndex).to.be.within(1, 300).and.to.not.be.oneOf([100, 200]);
    }
    await wallet.scan();
    expect((await wallet.deposit({ amounts: [2_000n] })).keyIndex).to.be.within(101, 300);
  });

  it("uses different tags than a second device with the same seed", async () => {
    const world = new World();
    const devices = [await world.wallet({ seed: SEED }), await world.wallet({ seed: SEED })];
    // Ten tags each: the probability that two random choices agree in all ten is 10^-19.
    const opened = await Promise.all(
      devices.map(async (wallet) => {
        const indices: number[] = [];
        for (let i = 0; i < 10; i += 1) indices.push((await wallet.deposit({ amounts: [2_000n] })).keyIndex);
        return indices;
      }),
    );
    expect(opened[0]).to.not.deep.equal(opened[1]);
  });

  it("counts the gap from final tags, so that reverted deposits are found again", async () => {
    const world = new World();
    const wallet = await world.wallet({ seed: SEED, finality: 3 });
    world.chain.mine(depositCall(POOL, [keys.ownerTag(90)], [2_000n]));
    for (let i = 0; i < 20; i += 1)
      expect((await wallet.deposit({ amounts: [2_000n] })).keyIndex)
        .to.be.within(1, 100)
        .and.to.not.equal(90);
  });

  it("works on events from any source, without a node", async () => {
    const world = new World();
    const wallet = await world.funded([5_000n, 6_000n], { seed: SEED });
    const request = { recipient: world.recipient(wallet), amount: 1_000n, resourceUrl: URL };
    world.settle(await wallet.pay(request));
    await wallet.scan();
    // The token's transfers are no events of the pool.
    const events = world.chain.blocks.flatMap(({ logs }) => logs.flatMap((log) => decodeEvent(log) ?? []));
    const scanKeys = walletScanKeys(keys, true);
    const scanner = new NoteScanner(scanKeys, { chainId: 31337n, pool: POOL });
    const { notes, spends } = scanner.scan(events);
    expect(notes).to.deep.equal(wallet.notes().map(({ state: _, ...note }) => note));
    expect(notes.map(({ origin }) => origin)).to.deep.equal(["deposit", "deposit", "payment", "change"]);
    expect(spends).to.have.length(1);
    const lie = events.map((event) => (event.type === "deposited" ? { ...event, commitment: 5n } : event));
    expect(new NoteScanner(scanKeys, { chainId: 31337n, pool: POOL }).scan(lie).notes[0]?.origin).to.equal("payment");
    const inParts = new NoteScanner(scanKeys, { chainId: 31337n, pool: POOL });
    expect(events.flatMap((event) => inParts.scan([event]).notes)).to.deep.equal(notes);
  });
});
