import { slow } from "@sotto/test-kit/slow";
import { MemoryStore, type Store } from "@sotto/wallet";
import { expect } from "chai";
import { dyingStore, URL, World, watchedStore } from "./support/world.ts";

const SEED = new Uint8Array(32).map((_, i) => 11 * i + 1);

/** Runs all operations of a wallet, with a store that may fail at any write. */
async function live(world: World, store: Store, merchantAddress: string): Promise<void> {
  const wallet = await world.wallet({ seed: SEED, store, rangeSize: 1 });
  const recipient = { wallet: `0x${"ab".repeat(20)}`, shieldedAddress: merchantAddress };
  const request = { recipient, amount: 1_500n, resourceUrl: URL };
  await wallet.scan();
  await world.deposit(wallet, [5_000n, 4_000n]);
  await world.append();
  const payment = await wallet.pay(request);
  const again = await wallet.payAgain(payment.id);
  world.settle(again);
  await world.append();
  world.withdraw(await wallet.merge());
  await world.append();
  await wallet.scan();
  world.withdraw(await wallet.withdraw({ recipient: `0x${"cc".repeat(20)}`, amount: 2_000n }));
  await wallet.scan();
}

/** Number of writes that these operations make. */
async function countWrites(merchantAddress: string): Promise<number> {
  let writes = 0;
  const store = watchedStore(new MemoryStore(), () => {
    writes += 1;
  });
  await live(new World(), store, merchantAddress);
  return writes;
}

describe("a crash", function () {
  slow(this, "a wallet is reopened after every write");
  let merchantAddress: string;
  before(async () => {
    merchantAddress = (await new World().wallet()).shieldedAddress;
  });

  it("loses nothing between any two writes to the store", async () => {
    const writes = await countWrites(merchantAddress);
    expect(writes).to.be.greaterThan(15);
    for (const after of [false, true])
      for (let n = 0; n < writes; n += 1) {
        const title = `${after ? "after" : "before"} write ${n} of ${writes}`;
        const world = new World();
        const disk = new MemoryStore();
        const death = await live(world, dyingStore(disk, n, after), merchantAddress).catch(
          (error: Error) => error.message,
        );
        expect(death, title).to.equal("the process died");

        await world.append();
        const reopened = await world.wallet({ seed: SEED, store: disk });
        const fresh = await world.wallet({ seed: SEED });
        await Promise.all([reopened.scan(), fresh.scan()]);
        expect(reopened.balance().total, title).to.equal(fresh.balance().total);
        const free = reopened
          .notes()
          .map((note) => ({ ...note, state: note.state === "held" ? "spendable" : note.state }));
        expect(free, title).to.deep.equal(fresh.notes());

        // Operations in flight expire within minutes; then the wallet can spend its whole balance, to the last unit.
        world.chain.time += 1_200;
        world.chain.mine();
        await reopened.scan();
        expect(reopened.balance(), title).to.deep.equal(fresh.balance());
        expect(
          reopened.history().filter(({ state }) => state === "open"),
          title,
        ).to.deep.equal([]);
        const { total } = reopened.balance();
        if (total === 0n) continue;
        const recipient = `0x${"dd".repeat(20)}`;
        world.withdraw(await reopened.withdraw({ recipient, amount: total }));
        expect(world.token.balanceOf(recipient), title).to.equal(total);
      }
  });
});
