import { expect } from "chai";
import { MemoryStore } from "../src/store/memory.ts";
import { rejection } from "./support/rejection.ts";
import { URL, World } from "./support/world.ts";

const SEED = new Uint8Array(32).map((_, i) => 7 * i + 1);

async function start(amounts: bigint[], changes = {}) {
  const world = new World();
  const [payer, shop] = [await world.funded(amounts, { seed: SEED, ...changes }), await world.wallet()];
  return { world, payer, shop, request: { recipient: world.recipient(shop), amount: 1_000n, resourceUrl: URL } };
}

describe("another attempt", () => {
  it("is made from the same note, with fresh randomness, so that at most one settles", async () => {
    const { world, payer, shop, request } = await start([5_000n, 5_000n]);
    const first = await payer.pay(request);
    world.chain.mineMany(6);
    const second = await payer.payAgain(first.id);
    expect(second).to.include({ id: first.id, nullifier: first.nullifier });
    expect(second.validUntil).to.be.greaterThan(first.validUntil);
    for (const field of ["encryptedAmount", "senderCommitment", "timestamp"] as const)
      expect(second.bundle[field]).not.to.equal(first.bundle[field]);
    expect(second.digest).not.to.equal(first.digest);
    expect(payer.balance()).to.include({ held: 5_000n, spendable: 5_000n });
    // The one that was given up is landed by somebody first.
    const block = world.settle(first);
    expect(world.settle(second).logs).to.have.length(0);
    await Promise.all([payer.scan(), shop.scan()]);
    expect(payer.status(first.id)).to.include({ state: "settled", transactionHash: block.logs[0]!.transactionHash });
    expect(shop.balance().total).to.equal(1_000n);
    expect(payer.balance().total).to.equal(9_000n);
    const error = await rejection(payer.payAgain(first.id));
    expect(error.code).to.equal("PAYMENT_SETTLED");
    expect(error.details["transactionHash"]).to.equal(block.logs[0]!.transactionHash);
  });

  it("of another note waits until a block behind validUntil is confirmed", async () => {
    const { world, request } = await start([5_000n]);
    const finality = 3;
    const wallet = await world.wallet({ seed: SEED, finality });
    world.chain.mineMany(finality);
    const { id, validUntil, ...payment } = await wallet.pay(request);
    while (world.chain.time <= validUntil) world.chain.mine();
    await wallet.scan();
    expect(wallet.status(id)).to.include({ state: "open", final: false });
    expect((await rejection(wallet.pay(request))).code).to.equal("FUNDS_NOT_READY");
    world.chain.mineMany(finality);
    await wallet.scan();
    expect(wallet.status(id)).to.include({ state: "expired", final: true });
    expect(wallet.balance().spendable).to.equal(5_000n);
    const other = await wallet.pay(request);
    expect(other.nullifier).to.equal(payment.nullifier);
    // The note now belongs to the other payment.
    expect((await rejection(wallet.payAgain(id))).code).to.equal("PAYMENT_CLOSED");
  });

  it("may follow one that expired, while its note is free", async () => {
    const { world, payer, request } = await start([5_000n]);
    const { id, validUntil } = await payer.pay(request);
    while (world.chain.time <= validUntil) world.chain.mine();
    await payer.scan();
    expect(payer.status(id).state).to.equal("expired");
    const again = await payer.payAgain(id);
    expect(payer.status(id).state).to.equal("open");
    world.settle(again);
    await payer.scan();
    expect(payer.status(id).state).to.equal("settled");
    expect(payer.history().map((status) => status.id)).to.deep.equal([id]);
  });

  it("is pointless where another device spent the note: the payment has failed", async () => {
    const { world, payer, request } = await start([5_000n]);
    const device = await world.wallet({ seed: SEED });
    const mine = await payer.pay(request);
    world.settle(await device.pay({ ...request, amount: 2_000n }));
    expect(world.settle(mine).logs).to.have.length(0);
    await payer.scan();
    expect(payer.status(mine.id)).to.include({ state: "failed", final: true });
    expect((await rejection(payer.payAgain(mine.id))).code).to.equal("PAYMENT_CLOSED");
    expect(payer.balance().total).to.equal(3_000n);
  });

  it("of a withdrawal spends the same notes under a date never used before", async () => {
    const { world, payer } = await start([5_000n, 6_000n]);
    const recipient = `0x${"cc".repeat(20)}`;
    const first = await payer.withdraw({ recipient, amount: 7_000n });
    // The chain's clock stands still: the date must differ all the same, or the output's pad would be used twice.
    const second = await payer.withdrawAgain(first.id);
    expect(second.notes).to.deep.equal(first.notes);
    expect(second.validUntil).to.be.greaterThan(first.validUntil);
    expect(second.withdraw.signals[0]).not.to.equal(first.withdraw.signals[0]);
    expect(second.withdraw.signals.at(-1)).not.to.equal(first.withdraw.signals.at(-1));
    world.withdraw(second);
    expect(() => world.withdraw(first)).to.throw("NullifierAlreadySpent");
    await payer.scan();
    expect(payer.status(first.id).state).to.equal("settled");
    expect(payer.balance().total).to.equal(4_000n);
    expect((await rejection(payer.withdrawAgain(first.id))).code).to.equal("PAYMENT_SETTLED");
    expect((await rejection(payer.payAgain(first.id))).code).to.equal("UNKNOWN_PAYMENT");
  });

  it("keeps dates apart even when the process died before the proof was made", async () => {
    const store = new MemoryStore();
    const { world, payer } = await start([5_000n], { store });
    world.prover.before = () => {
      throw new Error("the process died");
    };
    const recipient = `0x${"cc".repeat(20)}`;
    expect(await payer.withdraw({ recipient, amount: 4_000n }).catch((error: Error) => error.message)).to.equal(
      "the process died",
    );
    world.prover.before = () => undefined;
    const reopened = await world.wallet({ seed: SEED, store });
    await reopened.scan();
    const [lost] = reopened.history();
    expect(lost).to.include({ kind: "withdrawal", state: "open" });
    expect(reopened.proofOf(lost!.id)).to.equal(undefined);
    expect((await reopened.withdrawAgain(lost!.id)).validUntil).to.be.greaterThan(lost!.validUntil);
  });

  it("gives the proof back after a crash, to be sent again", async () => {
    const store = new MemoryStore();
    const { world, payer, request } = await start([5_000n, 6_000n], { store });
    const { id, bundle, settle } = await payer.pay(request);
    const withdrawal = await payer.withdraw({ recipient: `0x${"cc".repeat(20)}`, amount: 4_000n });
    const reopened = await world.wallet({ seed: SEED, store });
    expect(reopened.proofOf(id)).to.deep.equal({ bundle, settle });
    expect(reopened.proofOf(withdrawal.id)).to.deep.equal({ withdraw: withdrawal.withdraw });
  });

  it("keeps a proof for an hour after it is over, then no longer", async () => {
    const store = new MemoryStore();
    const { world, payer, request } = await start([5_000n, 5_000n], { store });
    const [settled, open] = [await payer.pay(request), await payer.pay(request)];
    world.settle(settled);
    world.chain.time = settled.validUntil + 3_590;
    await payer.scan();
    expect(payer.status(settled.id).final).to.equal(true);
    expect(payer.proofOf(settled.id)).not.to.equal(undefined);
    world.chain.mine();
    await payer.scan();
    for (const wallet of [payer, await world.wallet({ seed: SEED, store })]) {
      expect(wallet.proofOf(settled.id)).to.equal(undefined);
      expect(wallet.proofOf(open.id)).to.equal(undefined);
      expect(wallet.history().map(({ id }) => id)).to.have.members([settled.id, open.id]);
    }
    expect(payer.history().map(({ state }) => state)).to.have.members(["settled", "expired"]);
  });

  it("begun while the first is still being proved loses neither", async () => {
    const store = new MemoryStore();
    const { world, payer, request } = await start([5_000n], { store });
    let release = () => undefined as unknown;
    const waiting = new Promise((resolve) => {
      release = () => resolve(undefined);
    });
    let slow = true;
    world.prover.before = async () => {
      if (slow) await waiting;
    };
    const first = payer.pay(request);
    while (payer.history().length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    slow = false;
    const second = await payer.payAgain(payer.history()[0]!.id);
    release();
    const settled = world.settle(await first);
    expect(settled.logs).to.have.length(1);
    const reopened = await world.wallet({ seed: SEED, store });
    await reopened.scan();
    for (const wallet of [payer, reopened]) {
      await wallet.scan();
      expect(wallet.status(second.id).state).to.equal("settled");
      expect(wallet.proofOf(second.id)).to.deep.equal({ bundle: second.bundle, settle: second.settle });
    }
  });

  it("is refused by a clock that lags behind the chain: the proof would be expired at once", async () => {
    const { world, request } = await start([5_000n]);
    const late = await world.wallet({ seed: SEED, clock: () => world.clock() - 3_600_000 });
    expect((await rejection(late.pay(request))).code).to.equal("CLOCK_BEHIND");
    expect(late.history()).to.deep.equal([]);
  });
});
