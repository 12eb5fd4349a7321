import { withdrawalSignals } from "@sotto/protocol";
import { rejection } from "@sotto/test-kit/rejection";
import { MemoryStore } from "@sotto/wallet";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { SEED, start } from "./support/merchant.ts";

describe("another attempt", () => {
  it("spends the same note with fresh randomness, so that at most one settles", async () => {
    const { world, payer, merchant, request } = await start([5_000n, 5_000n]);
    const first = await payer.pay(request);
    world.chain.mineMany(6);
    const second = await payer.payAgain(first.id);
    expect(second).to.include({ id: first.id, nullifier: first.nullifier });
    expect(second.validUntil).to.be.greaterThan(first.validUntil);
    for (const field of ["encryptedAmount", "senderCommitment", "timestamp"] as const)
      expect(second.bundle[field]).not.to.equal(first.bundle[field]);
    expect(second.digest).not.to.equal(first.digest);
    expect(payer.balance()).to.include({ held: 5_000n, spendable: 5_000n });
    // Someone settles the abandoned first attempt before the second one.
    const block = world.settle(first);
    expect(world.settle(second).logs).to.have.length(0);
    await Promise.all([payer.scan(), merchant.scan()]);
    expect(payer.status(first.id)).to.include({ state: "settled", transactionHash: block.logs[0]!.transactionHash });
    expect(merchant.balance().total).to.equal(1_000n);
    expect(payer.balance().total).to.equal(9_000n);
    const error = await rejection(payer.payAgain(first.id));
    expect(error.code).to.equal("PAYMENT_SETTLED");
    expect(error.details["transactionHash"]).to.equal(block.logs[0]!.transactionHash);
  });

  it("waits until a block after validUntil is confirmed if it spends another note", async () => {
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

  it("may follow an expired attempt while its note is unspent", async () => {
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
    expect(payer.history().map((status) => [status.id, status.amount])).to.deep.equal([[id, 1_000n]]);
  });

  it("is refused if another device spent the note, because the payment failed", async () => {
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

  it("spends the same notes with a new deadline, also for a withdrawal", async () => {
    const { world, payer } = await start([5_000n, 6_000n]);
    const recipient = `0x${"cc".repeat(20)}`;
    const first = await payer.withdraw({ recipient, amount: 7_000n });
    // The chain's clock does not advance, but the deadline must still differ, or the output's pad would be used twice.
    const second = await payer.withdrawAgain(first.id);
    expect(second.notes).to.deep.equal(first.notes);
    expect(second.validUntil).to.be.greaterThan(first.validUntil);
    const [one, two] = [first, second].map(({ withdraw }) => withdrawalSignals(withdraw.signals));
    expect(two!.context).not.to.equal(one!.context);
    expect(two!.changeHint).not.to.equal(one!.changeHint);
    world.withdraw(second);
    expect(() => world.withdraw(first)).to.throw("NullifierAlreadySpent");
    await payer.scan();
    expect(payer.status(first.id).state).to.equal("settled");
    expect(payer.balance().total).to.equal(4_000n);
    expect((await rejection(payer.withdrawAgain(first.id))).code).to.equal("PAYMENT_SETTLED");
    expect((await rejection(payer.payAgain(first.id))).code).to.equal("UNKNOWN_PAYMENT");
  });

  it("fails immediately if another device spent a merge's notes", async () => {
    const { world, payer, request } = await start([600n + 1_000n, 1_100n]);
    const device = await world.wallet({ seed: SEED });
    const submit = async () => world.settle(await device.pay({ ...request, amount: 500n }));
    const error = await rejection(payer.pay({ ...request, amount: 2_000n }, { merge: { submit, interval: 1 } }));
    expect(error.code).to.equal("PAYMENT_CLOSED");
    const lost = async () => undefined;
    world.chain.time += 1_200;
    world.chain.mine();
    await world.append();
    const again = payer.pay({ ...request, amount: 2_000n }, { merge: { submit: lost, interval: 1, timeout: 20 } });
    expect((await rejection(again)).code).to.equal("TIMED_OUT");
  });

  it("holds the note after many expired attempts, also after a restart", async () => {
    const store = new MemoryStore();
    const { world, payer, request } = await start([5_000n], { store });
    for (let i = 0; i < 6; i += 1) {
      const { validUntil } = await payer.pay(request);
      world.chain.time = validUntil;
      world.chain.mine();
    }
    const { id } = await payer.pay(request);
    const reopened = await world.wallet({ seed: SEED, store });
    await reopened.scan();
    for (const wallet of [payer, reopened]) {
      expect(wallet.notes().map(({ state }) => state)).to.deep.equal(["held"]);
      expect(wallet.history().filter(({ state }) => state === "open")[0]?.id).to.equal(id);
    }
  });

  it("is refused if the clock lags behind the chain, because the proof would already be expired", async () => {
    const { world, request } = await start([5_000n]);
    const late = await world.wallet({ seed: SEED, clock: () => world.clock() - 3_600_000 });
    expect((await rejection(late.pay(request))).code).to.equal("CLOCK_WRONG");
    expect(late.history()).to.deep.equal([]);
    const account = new Account(`0x${"77".repeat(32)}`);
    world.token.mint(account.address, 2_000n);
    expect((await rejection(late.authorizeDeposit({ amounts: [2_000n], account }))).code).to.equal("CLOCK_WRONG");
  });
});
