// A clock that is wrong: nothing is begun with it, and what an undetected wrong clock began neither locks funds nor pays
// twice.
import { signalsDigest } from "@sotto/protocol";
import { rejection } from "@sotto/test-kit/rejection";
import { MemoryStore, type Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { LocalService } from "../../wallet/test/support/local-service.ts";
import { SEED, start } from "../../wallet/test/support/merchant.ts";
import type { World } from "../../wallet/test/support/world.ts";
import { spentOn } from "../src/purchase/limits.ts";
import { dismissPurchase, openPurchases } from "../src/purchase/open.ts";
import { type KeyedRequest, purchase } from "../src/purchase/purchase.ts";

const DAY = 86_400;
const PRICE = 2_000n;
const ACCOUNT = new Account(`0x${"77".repeat(32)}`);
const RECIPIENT = `0x${"cc".repeat(20)}`;

describe("a wallet whose clock is wrong", () => {
  let world: World;
  let payer: Wallet;
  let service: LocalService;
  let request: KeyedRequest;
  /** Seconds by which the payer's clock is ahead. */
  let off: number;

  async function open(amounts: bigint[]) {
    off = 0;
    const store = new MemoryStore();
    const started = await start(amounts, { store });
    ({ world } = started);
    payer = await world.wallet({ seed: SEED, store, clock: () => world.clock() + off * 1000 });
    await payer.scan();
    service = new LocalService(world);
    const { recipient, resourceUrl } = started.request;
    request = { recipient, resourceUrl, price: PRICE, key: "order 1", host: "data.example", limits: {} };
    world.token.mint(ACCOUNT.address, 10_000n);
  }
  beforeEach(() => open([5_000n]));
  const buy = (changes: Partial<KeyedRequest> = {}) =>
    purchase(payer, service.client, { ...request, ...changes }, { chainTimeoutMs: 50, fundsTimeoutMs: 0 });
  const cashOut = () => payer.cashOut({ all: true, recipient: RECIPIENT, service: service.client });
  const fund = () => payer.fund({ amount: 1_000n, account: ACCOUNT, service: service.client });

  for (const [seconds, direction] of [
    [DAY, "ahead"],
    [600, "ahead"],
    [-DAY, "behind"],
    [-120, "behind"],
  ] as const)
    it(`begins nothing ${Math.abs(seconds)} s ${direction}, and works once the clock is right`, async () => {
      off = seconds;
      const actions = [
        () => buy(),
        () => payer.pay({ recipient: request.recipient, amount: PRICE, resourceUrl: request.resourceUrl }),
        cashOut,
        () => payer.withdraw({ recipient: RECIPIENT, amount: 1_000n }),
        () => payer.authorizeDeposit({ amounts: [1_000n], account: ACCOUNT }),
        fund,
      ];
      for (const action of actions) {
        const error = await rejection(action());
        expect(error.code).to.equal("CLOCK_WRONG");
        expect(error.details).to.include({ direction });
        expect(Number(error.details["seconds"])).to.be.within(Math.abs(seconds) - 2, Math.abs(seconds) + 2);
      }
      expect([payer.history(), await openPurchases(payer), await payer.unfinishedDeposits()]).to.deep.equal([
        [],
        [],
        [],
      ]);
      expect([payer.balance().spendable, service.asked]).to.deep.equal([5_000n, []]);
      off = 0;
      await (await buy()).delivered();
      await fund();
      await cashOut();
      expect(payer.balance().total).to.equal(0n);
    });

  it("gets no new budget in another hour or day", async () => {
    await (await buy()).delivered();
    const order = { key: "order 2", limits: { perHour: PRICE } };
    for (const seconds of [-DAY, -3_600, 3_600, DAY]) {
      off = seconds;
      expect((await rejection(buy(order))).code).to.equal("CLOCK_WRONG");
    }
    off = 0;
    expect((await rejection(buy(order))).code).to.equal("HOUR_LIMIT_EXCEEDED");
    expect([payer.balance().total, await spentOn(payer.store, payer.now())]).to.deep.equal([5_000n - PRICE, PRICE]);
  });

  for (const seconds of [30, -30])
    it(`pays with a clock that is ${seconds} s off`, async () => {
      off = seconds;
      await (await buy()).delivered();
      await cashOut();
      expect(payer.balance().total).to.equal(0n);
    });

  it("is not assumed if no block was mined for a day", async () => {
    world.chain.time += DAY;
    await (await buy()).delivered();
    // A local chain whose node does not report the time.
    world.chain.tellsTime = false;
    world.chain.time += DAY;
    await (await buy({ key: "order 2" })).delivered();
    expect(payer.balance().total).to.equal(1_000n);
  });

  it("keeps a proof and a signed deposit that the chain may still accept", async () => {
    const { id, digest, release } = await buy();
    release();
    service.before = (path) => (path === "deposit" ? { httpStatus: 429, code: "QUOTA_EXCEEDED" } : undefined);
    await rejection(fund());
    const [deposit] = await payer.unfinishedDeposits();
    off = DAY;
    await payer.scan();
    const proof = payer.proofOf(id);
    if (proof === undefined || !("bundle" in proof)) throw new Error("the proof is gone");
    expect(signalsDigest(proof.bundle.publicSignals.map(BigInt))).to.equal(digest);
    expect(await payer.unfinishedDeposits()).to.deep.equal([deposit]);
    // The purchase is paid a moment ago by the chain's time, so it is not stopped as stale.
    await (await buy()).delivered();
    off = 0;
    service.before = () => undefined;
    expect((await payer.resumeDeposit(deposit!.id, { service: service.client })).id).to.equal(deposit!.id);
  });

  describe("and whose node does not report the time", () => {
    /** Buys a day ahead. The service refuses the proof, and keeps it. */
    async function buyAhead() {
      world.chain.tellsTime = false;
      off = DAY;
      const error = await rejection(buy());
      expect([error.code, error.details["reason"]]).to.deep.equal(["PAYMENT_INVALID", "TIMESTAMP_IN_FUTURE"]);
      const [record] = payer.history();
      const proof = payer.proofOf(record!.id);
      if (proof === undefined || !("bundle" in proof)) throw new Error("no proof was made");
      off = 0;
      await payer.scan();
      expect(payer.status(record!.id)).to.include({ state: "open", released: true });
      return { id: record!.id, bundle: proof.bundle };
    }
    const spent = () => 5_000n - payer.balance().total;

    it("pays once if the purchase is repeated with the right clock", async () => {
      const { bundle } = await buyAhead();
      await (await buy()).delivered();
      expect(() => service.settle(bundle)).to.throw("nothing was settled");
      await payer.scan();
      expect([spent(), payer.history().length, await openPurchases(payer)]).to.deep.equal([PRICE, 1, []]);
    });

    it("pays once if someone settles the early proof first", async () => {
      const { id, bundle } = await buyAhead();
      const digest = signalsDigest(bundle.publicSignals.map(BigInt));
      service.settle(bundle);
      await world.append();
      expect((await rejection(buy())).code).to.equal("PAID_NOT_TAKEN_YET");
      world.chain.time += DAY;
      const paid = await buy();
      expect(paid).to.include({ id, digest });
      await paid.delivered();
      expect([spent(), payer.history().length]).to.deep.equal([PRICE, 1]);
    });

    it("pays for something else from the same note, which ends the early proof", async () => {
      const { id, bundle } = await buyAhead();
      expect(payer.balance()).to.include({ spendable: 5_000n, held: 0n });
      await (await buy({ key: "order 2", price: 1_000n })).delivered();
      expect(() => service.settle(bundle)).to.throw("nothing was settled");
      expect(payer.status(id)).to.include({ state: "failed", final: true });
      await (await buy()).delivered();
      expect(spent()).to.equal(PRICE + 1_000n);
    });

    it("holds the note for the payment that uses it next", async () => {
      await buyAhead();
      const payment = { recipient: request.recipient, amount: 1_000n, resourceUrl: request.resourceUrl };
      const next = await payer.pay(payment);
      expect(payer.balance()).to.include({ spendable: 0n, held: 5_000n });
      expect((await rejection(payer.pay(payment))).code).to.equal("FUNDS_NOT_READY");
      expect((await rejection(buy())).code).to.equal("SETTLEMENT_UNKNOWN");
      world.settle(next);
      await payer.scan();
      expect(spent()).to.equal(1_000n);
    });

    it("dismisses the purchase, and repeats it from the same note although a smaller one suffices", async () => {
      const { id, bundle } = await buyAhead();
      await world.deposit(payer, [PRICE]);
      await world.append();
      await payer.scan();
      await dismissPurchase(payer, id);
      expect(await openPurchases(payer)).to.deep.equal([]);
      await (await buy()).delivered();
      expect(() => service.settle(bundle)).to.throw("nothing was settled");
      await payer.scan();
      expect(payer.balance().total).to.equal(5_000n);
    });

    it("does not dismiss a purchase whose proof the service may settle", async () => {
      world.chain.tellsTime = false;
      service.before = (path) => (path === "settle" ? { httpStatus: 429, code: "QUOTA_EXCEEDED" } : undefined);
      await rejection(buy());
      const [open] = await openPurchases(payer);
      expect((await rejection(dismissPurchase(payer, open!.id))).code).to.equal("UNKNOWN_PURCHASE");
    });

    it("withdraws everything, which ends the early proof", async () => {
      const { bundle } = await buyAhead();
      await cashOut();
      expect(() => service.settle(bundle)).to.throw("nothing was settled");
      await payer.scan();
      expect([payer.balance().total, await world.token.balanceOf(RECIPIENT)]).to.deep.equal([0n, 5_000n]);
    });

    it("resumes a withdrawal with a deadline that services accept", async () => {
      world.chain.tellsTime = false;
      off = DAY;
      const error = await rejection(cashOut());
      expect([error.code, error.details["reason"]]).to.deep.equal(["SERVICE_REFUSED", "VALIDITY_TOO_LONG"]);
      const early = payer.proofOf(payer.history()[0]!.id);
      if (early === undefined || !("withdraw" in early)) throw new Error("no proof was made");
      off = 0;
      await cashOut();
      expect(payer.history().map(({ state }) => state)).to.deep.equal(["settled"]);
      expect(await world.token.balanceOf(RECIPIENT)).to.equal(5_000n);
    });
  });
});
