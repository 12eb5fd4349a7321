import { rejection } from "@sotto/test-kit/rejection";
import { MemoryStore, type Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { URL, World } from "./support/world.ts";

const SEED = new Uint8Array(32).map((_, i) => 5 * i + 1);

/** The parts of a wallet's state that come from the chain. */
const seen = (wallet: Wallet) => ({ notes: wallet.notes(), balance: wallet.balance() });

async function fresh(world: World, finality: number) {
  const wallet = await world.wallet({ seed: SEED, finality });
  await wallet.scan();
  return seen(wallet);
}

describe("reorganization", () => {
  it("rescans notes: a note at another leaf index is a different note", async () => {
    const world = new World();
    const [wallet, other] = [await world.wallet({ seed: SEED }), await world.wallet()];
    const { approve, deposit } = await wallet.deposit({ amounts: [5_000n] });
    world.chain.mine(approve, deposit);
    await world.append();
    await wallet.scan();
    const [before] = wallet.notes();
    world.chain.takeBack(2);
    await world.deposit(other, [9_000n]);
    world.chain.mine(approve, deposit);
    await world.append();
    const result = await wallet.scan();
    expect(result.rolledBack).to.be.at.least(2);
    const [after] = wallet.notes();
    expect(wallet.notes()).to.have.length(1);
    expect(after).to.include({ amount: 5_000n, leafIndex: 1, state: "spendable" });
    expect(after!.nullifier).not.to.equal(before!.nullifier);
    expect(after!.blinding).not.to.equal(before!.blinding);
    world.settle(await wallet.pay({ recipient: world.recipient(other), amount: 1_000n, resourceUrl: URL }));
    await wallet.scan();
    expect(wallet.balance().total).to.equal(4_000n);
  });

  it("restores the note of a reverted payment, and holds it while the payment may settle again", async () => {
    const world = new World();
    const [payer, merchant] = [await world.funded([5_000n], { seed: SEED }), await world.wallet()];
    const payment = await payer.pay({ recipient: world.recipient(merchant), amount: 1_000n, resourceUrl: URL });
    world.settle(payment);
    await payer.scan();
    expect(payer.status(payment.id).state).to.equal("settled");
    world.chain.takeBack(1);
    world.chain.mine();
    await payer.scan();
    expect(payer.status(payment.id).state).to.equal("open");
    expect(payer.balance()).to.include({ held: 5_000n, total: 5_000n });
    world.settle(payment);
    await payer.scan();
    expect(payer.status(payment.id).state).to.equal("settled");
    expect(payer.balance().total).to.equal(4_000n);
  });

  it("is detected during a scan", async () => {
    const world = new World();
    const wallet = await world.wallet({ seed: SEED });
    await world.deposit(wallet, [5_000n]);
    world.chain.mineMany(5);
    let times = 0;
    world.chain.beforeLogs = () => {
      times += 1;
      if (times > 2) return;
      world.chain.takeBack(3);
      world.chain.mineMany(3);
    };
    const restored = await world.wallet({ seed: SEED });
    await restored.scan();
    expect(times).to.equal(3);
    expect(seen(restored)).to.deep.equal(await fresh(world, 0));
    world.chain.beforeLogs = () => {
      world.chain.takeBack(1);
      world.chain.mine();
    };
    expect((await rejection((await world.wallet({ seed: SEED })).scan())).code).to.equal("NODE_INCONSISTENT");
  });

  it("is detected between two ranges", async () => {
    const world = new World();
    const wallet = await world.wallet({ seed: SEED });
    await world.deposit(wallet, [5_000n]);
    world.chain.mineMany(8);
    const restored = await world.wallet({ seed: SEED, rangeSize: 5 });
    let once = true;
    const { rolledBack } = await restored.scan({
      onProgress: () => {
        if (once) world.chain.takeBack(world.chain.blocks.length - 1);
        if (once) world.chain.mineMany(9);
        once = false;
      },
    });
    expect(rolledBack).to.equal(5);
    expect(restored.balance().total).to.equal(0n);
    expect(seen(restored)).to.deep.equal(await fresh(world, 0));
  });

  it("rescans only the unconfirmed blocks if no confirmed block changed", async () => {
    const world = new World();
    await world.funded([5_000n], { seed: SEED });
    world.chain.mineMany(200);
    const wallet = await world.wallet({ seed: SEED, finality: 6 });
    await wallet.scan();
    world.chain.takeBack(2);
    world.chain.mineMany(2);
    expect((await wallet.scan()).rolledBack).to.equal(6);
  });

  it("handles a node that falls back to a shorter chain", async () => {
    const world = new World();
    const wallet = await world.funded([5_000n], { seed: SEED });
    world.chain.mineMany(4);
    await wallet.scan();
    world.chain.takeBack(2);
    expect((await wallet.scan()).rolledBack).to.be.greaterThan(0);
    expect(seen(wallet)).to.deep.equal(await fresh(world, 0));
  });

  it("ends in the state of a fresh wallet after any chain history", async () => {
    const rounds = process.env["SOTTO_LONG"] ? 60 : 8;
    for (let round = 0; round < rounds; round += 1) {
      let state = 1000 + round;
      const random = (below: number) => {
        state = (state * 1103515245 + 12345) % 2 ** 31;
        return Math.floor(state / 8) % below;
      };
      const finality = random(3);
      const world = new World();
      const store = new MemoryStore();
      let wallet = await world.wallet({ seed: SEED, finality, store });
      const merchant = await world.wallet();
      for (let step = 0; step < 25; step += 1) {
        const action = random(7);
        if (action === 0) await world.deposit(wallet, [2_000n + BigInt(random(9))]);
        if (action === 1) await world.append().catch(() => undefined);
        if (action === 2) world.chain.mineMany(1 + random(3));
        if (action === 3 && world.chain.blocks.length > 6) world.chain.takeBack(1 + random(4));
        if (action === 4) {
          const request = { recipient: world.recipient(random(2) ? merchant : wallet), amount: 900n, resourceUrl: URL };
          const payment = await wallet.pay(request).catch(() => undefined);
          if (payment) world.settle(payment);
        }
        if (action === 5) await wallet.scan();
        if (action === 6) wallet = await world.wallet({ seed: SEED, finality, store });
      }
      world.chain.mine();
      await wallet.scan();
      const expected = await fresh(world, finality);
      // A fresh wallet does not know of payments in progress, so it treats the notes that they hold as spendable.
      const free = wallet.notes().map((note) => ({ ...note, state: note.state === "held" ? "spendable" : note.state }));
      expect(free, `round ${round}`).to.deep.equal(expected.notes);
    }
  });
});
