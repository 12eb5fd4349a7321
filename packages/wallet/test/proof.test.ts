import { MemoryStore } from "@sotto/wallet";
import { expect } from "chai";
import { SEED, start } from "./support/merchant.ts";

describe("a proof in the journal", () => {
  it("is available after a crash, so that it can be sent again", async () => {
    const store = new MemoryStore();
    const { world, payer, request } = await start([5_000n, 6_000n], { store });
    const { id, bundle, settle } = await payer.pay(request);
    const withdrawal = await payer.withdraw({ recipient: `0x${"cc".repeat(20)}`, amount: 4_000n });
    const reopened = await world.wallet({ seed: SEED, store });
    expect(reopened.proofOf(id)).to.deep.equal({ bundle, settle });
    expect(reopened.proofOf(withdrawal.id)).to.deep.equal({ withdraw: withdrawal.withdraw });
  });

  it("is kept for one hour after its deadline", async () => {
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

  it("is not overwritten by a slower first attempt once the second attempt has stored its own", async () => {
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
    await payer.scan();
    for (const wallet of [payer, await world.wallet({ seed: SEED, store })]) {
      await wallet.scan();
      expect(wallet.status(second.id).state).to.equal("settled");
      expect(wallet.proofOf(second.id)).to.deep.equal({ bundle: second.bundle, settle: second.settle });
    }
  });

  it("reserves its deadline even if it was never generated: the next attempt has a later one", async () => {
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
});
