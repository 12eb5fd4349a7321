// Purchases that fail: a purchase that never paid releases its limits immediately; one that may still settle keeps its
// reservation.

import { rejection } from "@sotto/test-kit/rejection";
import { MemoryStore, type Store, type Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { LocalService } from "../../wallet/test/support/local-service.ts";
import { SEED, start } from "../../wallet/test/support/merchant.ts";
import { dyingStore, type World } from "../../wallet/test/support/world.ts";
import { bookOf } from "../src/purchase/book.ts";
import type { PurchaseOptions } from "../src/purchase/context.ts";
import { spentOn } from "../src/purchase/limits.ts";
import { dismissPurchase, openPurchases } from "../src/purchase/open.ts";
import { type KeyedRequest, purchase } from "../src/purchase/purchase.ts";

const PRICE = 2_000n;
const AWAY = () => {
  throw new TypeError("fetch failed");
};
/** Longer than the validity of any payment, seconds. */
const AN_AGE = 400;

describe("a purchase that fails", () => {
  let world: World;
  let payer: Wallet;
  let service: LocalService;
  let request: KeyedRequest;

  async function open(amounts: bigint[], store: Store = new MemoryStore()) {
    const started = await start(amounts, { store });
    ({ world, payer } = started);
    service = new LocalService(world);
    const { recipient, resourceUrl } = started.request;
    const limits = { perDay: PRICE };
    request = { recipient, resourceUrl, price: PRICE, key: "order 1", host: "data.example", limits };
  }
  beforeEach(() => open([5_000n]));
  const buy = (changes: Partial<KeyedRequest> = {}, options: PurchaseOptions = {}) =>
    purchase(payer, service.client, { ...request, ...changes }, { chainTimeoutMs: 50, fundsTimeoutMs: 0, ...options });
  const spent = () => spentOn(payer.store, payer.now());
  const isReleased = async () => {
    expect([await spent(), await spentOn(payer.store, payer.now(), "data.example")]).to.deep.equal([0n, 0n]);
    expect(await openPurchases(payer)).to.deep.equal([]);
    expect(await payer.store.list("purchase/")).to.deep.equal([]);
  };

  it("for lack of funds counts against no limit and leaves no open purchase", async () => {
    await open([1_000n]);
    for (const key of ["order 1", "order 1", "order 2"]) {
      expect((await rejection(buy({ key }))).code).to.equal("INSUFFICIENT_FUNDS");
      await isReleased();
    }
    await world.deposit(payer, [PRICE]);
    await world.append();
    await (await buy()).delivered();
    expect(await spent()).to.equal(PRICE);
    expect((await rejection(buy({ key: "order 2" }))).code).to.equal("DAY_LIMIT_EXCEEDED");
  });

  it("because its notes are too small, counts against no limit", async () => {
    await open([1_100n, 1_200n]);
    expect((await rejection(buy())).code).to.equal("MERGE_REQUIRED");
    await isReleased();
  });

  it("because no note became spendable in time, counts against no limit", async () => {
    world.append = async () => 0;
    await (await buy({ limits: {} })).delivered();
    const before = await spent();
    expect((await rejection(buy({ key: "order 2", limits: {} }))).code).to.equal("FUNDS_TIMED_OUT");
    expect([await spent(), await openPurchases(payer)]).to.deep.equal([before, []]);
  });

  it("because it was aborted during proving, releases its note immediately", async () => {
    const abort = new AbortController();
    const reason = new Error("enough");
    world.prover.before = () => abort.abort(reason);
    expect(await buy({}, { signal: abort.signal }).catch((error: unknown) => error)).to.equal(reason);
    await isReleased();
    expect([payer.balance().spendable, payer.history()]).to.deep.equal([5_000n, []]);
    expect(service.asked).to.deep.equal([]);
    world.prover.before = () => undefined;
    // The next attempt pays from the only note, within the same limit.
    await (await buy()).delivered();
    expect(await spent()).to.equal(PRICE);
  });

  it("because it was aborted before the proof was sent, releases its note immediately", async () => {
    const abort = new AbortController();
    const reason = new Error("enough");
    const { put } = payer.store;
    payer.store.put = async (key, value, expected) => {
      await put.call(payer.store, key, value, expected);
      if ((Object(value) as { proof?: unknown }).proof) abort.abort(reason);
    };
    expect(await buy({}, { signal: abort.signal }).catch((error: unknown) => error)).to.equal(reason);
    await isReleased();
    expect([payer.balance().spendable, service.asked]).to.deep.equal([5_000n, []]);
  });

  it("because the service became unreachable after its proof was sent, keeps its reservation until it can no longer settle", async () => {
    service.before = AWAY;
    expect((await rejection(buy())).code).to.equal("SERVICE_UNREACHABLE");
    expect([await spent(), (await openPurchases(payer)).map(({ state }) => state)]).to.deep.equal([PRICE, ["paying"]]);
    expect((await rejection(buy({ key: "order 2" }))).code).to.equal("DAY_LIMIT_EXCEEDED");
    const [{ id } = { id: "" }] = await openPurchases(payer);
    const refused = await rejection(dismissPurchase(payer, id));
    expect([refused.code, refused.message]).to.deep.equal([
      "UNKNOWN_PURCHASE",
      "the purchase may still be paid: repeat the same request to resume it, or dismiss it later",
    ]);
    world.chain.time += AN_AGE;
    world.chain.mine();
    await dismissPurchase(payer, id);
    await isReleased();
  });

  it("keeps its reservation, but can be dismissed, if the process was killed during proving", async () => {
    const disk = new MemoryStore();
    await open([5_000n], disk);
    let dead = false;
    const dying: Store = {
      ...dyingStore(disk, Number.POSITIVE_INFINITY, false),
      batch: async (changes) => {
        if (dead) throw new Error("the process died");
        return disk.batch(changes);
      },
    };
    payer = await world.wallet({ seed: SEED, store: dying });
    world.prover.before = () => {
      dead = true;
      throw new Error("the process died");
    };
    expect(await buy().catch((error: Error) => error.message)).to.equal("the process died");
    world.prover.before = () => undefined;
    payer = await world.wallet({ seed: SEED, store: dyingStore(disk, Number.POSITIVE_INFINITY, false) });
    await payer.scan();
    expect([await spent(), payer.balance().held]).to.deep.equal([PRICE, 5_000n]);
    const [{ id } = { id: "" }] = await openPurchases(payer);
    await dismissPurchase(payer, id);
    await isReleased();
    expect(payer.balance().spendable).to.equal(5_000n);
  });

  it("is released once, even if abandoned twice", async () => {
    await open([5_000n, 5_000n]);
    service.before = AWAY;
    await rejection(buy({ limits: { perDay: 10_000n } }));
    await rejection(buy({ key: "order 2", limits: { perDay: 10_000n } }));
    const book = await bookOf(payer.store);
    const [first] = book.list();
    await book.abandon(first!);
    await book.abandon(first!);
    expect(await spent()).to.equal(PRICE);
  });
});
