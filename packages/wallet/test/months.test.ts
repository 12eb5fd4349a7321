import { addMonths, type Month, monthAt, monthEnd, monthStart, parseMonth } from "@sotto/protocol";
import { POOL } from "@sotto/test-chain/pool";
import { anyRejection, expectRejected } from "@sotto/test-kit/rejection";
import { MemoryStore, type Store, ViewingWallet, type Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { dyingStore, MERCHANT, URL, World } from "./support/world.ts";

const SEED = new Uint8Array(32).map((_, i) => 13 * i + 1);
const [FEBRUARY, MARCH, APRIL] = ["2027-02", "2027-03", "2027-04"].map((text) => parseMonth(text)) as [
  Month,
  Month,
  Month,
];
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe("addresses and keys of months", () => {
  let world: World;
  let payer: Wallet;
  let merchant: Wallet;
  beforeEach(async () => {
    world = new World();
    travel(monthStart(FEBRUARY) + HOUR);
    merchant = await world.wallet({ seed: SEED });
    payer = await world.funded([9_000n, 9_000n, 9_000n, 9_000n]);
  });

  /** Moves the chain's clock, and so every wallet's, to this time. */
  function travel(ms: number): void {
    world.chain.time = ms / 1000;
    world.chain.mine();
  }

  /** Pays the merchant's address of a month, or the lasting one, now. */
  async function pay(month: Month | undefined, amount: bigint): Promise<void> {
    const shieldedAddress = month === undefined ? merchant.shieldedAddress : merchant.addressOfMonth(month);
    const payment = await payer.pay({ recipient: { wallet: MERCHANT, shieldedAddress }, amount, resourceUrl: URL });
    world.settle(payment);
    await world.append();
  }

  const view = (keys: Parameters<Wallet["viewingKeys"]>[0], store: Store = new MemoryStore()) =>
    ViewingWallet.open({
      ...{ chain: world.chain, chainId: 31337n, pool: POOL, deploymentBlock: 0, finality: 0, rangeSize: 1 },
      keys: merchant.viewingKeys(keys),
      store,
    });

  /** What a viewing wallet with these keys reads: the month and amount of each payment. */
  async function read(keys: Parameters<Wallet["viewingKeys"]>[0]) {
    const wallet = await view(keys);
    await wallet.scan();
    await wallet.search();
    return wallet.received().map(({ month, amount }) => [month, amount]);
  }

  it("are found in each month, also by a wallet restored from its words, with its change and no journal", async () => {
    for (const [month, amount] of [
      [FEBRUARY, 1n],
      [MARCH, 20n],
      [APRIL, 300n],
    ] as const) {
      travel(monthStart(month) + 5 * HOUR);
      await pay(month, amount);
    }
    await pay(undefined, 4_000n);
    await merchant.scan();
    expect(merchant.balance().spendable).to.equal(4_321n);
    const months = merchant.notes().map(({ month }) => month);
    expect(months).to.deep.equal([FEBRUARY, MARCH, APRIL, undefined]);
    const restored = await world.wallet({ seed: SEED });
    await restored.scan();
    expect(restored.notes()).to.deep.equal(merchant.notes());

    // The merchant spends what it got, in April; the change is found without its journal.
    await merchant
      .pay({ recipient: world.recipient(payer), amount: 4_000n - 77n, resourceUrl: URL })
      .then((payment) => {
        world.settle(payment);
      });
    await world.append();
    travel(monthStart(addMonths(APRIL, 3)));
    const again = await world.wallet({ seed: SEED });
    await again.scan();
    expect(again.balance().spendable).to.equal(321n + 77n);
    expect(again.notes().find(({ origin }) => origin === "change")?.month).to.equal(APRIL);
  });

  it("finds change and outputs that settle in the month after their proof", async () => {
    travel(monthEnd(FEBRUARY) - MINUTE);
    const payment = await payer.pay({ recipient: world.recipient(merchant), amount: 1_000n, resourceUrl: URL });
    const exit = await payer.withdraw({ recipient: `0x${"cc".repeat(20)}`, amount: 500n, validFor: 86_340 });
    travel(monthStart(MARCH) + MINUTE);
    world.settle(payment);
    travel(monthStart(MARCH) + 20 * HOUR);
    world.withdraw(exit);
    await world.append();
    await payer.scan();
    expect(payer.balance().spendable).to.equal(36_000n - 1_500n);
  });

  it("a key of March opens nothing of February, April or the lasting address (control: their own keys do)", async () => {
    for (const [month, amount] of [
      [FEBRUARY, 1n],
      [MARCH, 20n],
      [APRIL, 300n],
    ] as const) {
      travel(monthStart(month) + 5 * HOUR);
      await pay(month, amount);
      await pay(undefined, amount);
    }
    expect(await read({ months: [MARCH] })).to.deep.equal([[MARCH, 20n]]);
    expect(await read({ months: [FEBRUARY, APRIL] })).to.deep.equal([
      [FEBRUARY, 1n],
      [APRIL, 300n],
    ]);
    expect(await read({ lasting: true })).to.deep.equal([1n, 20n, 300n].map((amount) => [undefined, amount]));
  });

  it("are read around the ends of their month, and later only by a search, which also finds what was spent", async () => {
    travel(monthStart(MARCH) - 10 * MINUTE);
    await pay(MARCH, 1n);
    travel(monthEnd(MARCH) + 13 * MINUTE);
    await pay(MARCH, 20n);
    await merchant.scan();
    expect(merchant.balance().total).to.equal(21n);
    // A program that does not know months pays March's address in May.
    travel(monthStart(addMonths(MARCH, 2)) + 5 * HOUR);
    await pay(MARCH, 5_000n);
    await pay(APRIL, 300n);
    await merchant.scan();
    expect(merchant.balance().total).to.equal(21n);
    expect(await merchant.search()).to.equal(2);
    expect(merchant.balance().spendable).to.equal(5_321n);
    expect(await merchant.search()).to.equal(0);
    await merchant
      .pay({ recipient: world.recipient(payer), amount: 5_000n, resourceUrl: URL })
      .then(world.settle.bind(world));
    await world.append();
    await merchant.scan();
    expect(merchant.balance().spendable).to.equal(321n);

    const restored = await world.wallet({ seed: SEED });
    await restored.scan();
    expect(restored.balance().total).to.equal(21n);
    expect(await restored.search()).to.equal(2);
    expect(restored.notes()).to.deep.equal(merchant.notes());
  });

  it("a search that dies at any write finds the same", async () => {
    travel(monthStart(APRIL) + 5 * HOUR);
    await pay(FEBRUARY, 5_000n);
    for (const after of [false, true])
      for (let n = 0; ; n += 1) {
        const disk = new MemoryStore();
        const scanned = await world.wallet({ seed: SEED, store: disk, rangeSize: 2 });
        await scanned.scan();
        const dying = await world
          .wallet({ seed: SEED, store: dyingStore(disk, n, after), rangeSize: 2 })
          .catch(() => undefined);
        const died = await dying
          ?.scan()
          .then(() => dying.search())
          .then(
            () => false,
            () => true,
          );
        const reopened = await world.wallet({ seed: SEED, store: disk, rangeSize: 2 });
        await reopened.scan();
        await reopened.search();
        expect(reopened.balance().spendable, `${after} ${n}`).to.equal(5_000n);
        if (died === false) {
          expect(n).to.be.greaterThan(2);
          break;
        }
      }
  });

  it("a search can be stopped, and leaves payments possible meanwhile", async () => {
    travel(monthStart(APRIL) + 5 * HOUR);
    await pay(FEBRUARY, 5_000n);
    await payer.scan();
    const [searching, payment] = await Promise.all([
      payer.search(),
      payer.pay({ recipient: world.recipient(merchant), amount: 10n, resourceUrl: URL }),
    ]);
    expect(searching).to.equal(0);
    expect(payment.digest).to.match(/^0x/);
    const stopped = merchant.search({ signal: AbortSignal.abort(new Error("enough")) });
    expect((await anyRejection(stopped)).message).to.equal("enough");
  });

  it("a wallet whose lasting address is unused reads payments to it only by a search", async () => {
    travel(monthStart(MARCH) + 5 * HOUR);
    await pay(undefined, 5n);
    await pay(MARCH, 20n);
    const store = new MemoryStore();
    const wallet = await world.wallet({ seed: SEED, lastingAddress: "unused", store });
    await wallet.scan();
    expect(wallet.balance().total).to.equal(20n);
    expect(await wallet.search()).to.equal(1);
    expect(wallet.balance().total).to.equal(25n);
    const used = await world.wallet({ seed: SEED, store });
    await used.scan();
    expect(used.balance().total).to.equal(25n);
    await expectRejected("INVALID_OPTION", () => world.wallet({ seed: SEED, lastingAddress: "perhaps" as never }));
  });

  it("a viewing wallet that gets a key later reads its month again, and forgets what a removed key found", async () => {
    for (const [month, amount] of [
      [FEBRUARY, 1n],
      [MARCH, 20n],
      [APRIL, 300n],
    ] as const) {
      travel(monthStart(month) + 5 * HOUR);
      await pay(month, amount);
    }
    const store = new MemoryStore();
    const open = async (...months: Month[]) => {
      const wallet = await view({ months }, store);
      await wallet.scan();
      return wallet.total();
    };
    expect(await open(FEBRUARY)).to.equal(1n);
    expect(await open(FEBRUARY, MARCH)).to.equal(21n);
    expect(await open(MARCH, APRIL)).to.equal(320n);
    const records = JSON.stringify(await store.list("page/"), (_, value) =>
      typeof value === "bigint" ? String(value) : value,
    );
    expect(records).to.include('"2027-03"').and.not.to.include('"2027-02"');
    expect(await open(APRIL, addMonths(APRIL, 1))).to.equal(300n);
    expect(await open(FEBRUARY, APRIL)).to.equal(301n);
    await expectRejected("INVALID_OPTION", async () => merchant.viewingKeys({ months: [] }));
    await expectRejected("INVALID_MONTH", async () => merchant.viewingKeys({ months: ["2027-13" as Month] }));
  });

  it("change keys of March show an auditor what was spent in March, and nothing of April", async () => {
    for (const [month, amount] of [
      [MARCH, 1_000n],
      [APRIL, 2_000n],
    ] as const) {
      travel(monthStart(month) + 5 * HOUR);
      await payer
        .pay({ recipient: world.recipient(merchant), amount, resourceUrl: URL })
        .then(world.settle.bind(world));
      // A payment of a whole note leaves change 0, which is shown too.
      await payer
        .pay({ recipient: world.recipient(merchant), amount: 9_000n, resourceUrl: URL })
        .then(world.settle.bind(world));
      await world.append();
    }
    const audit = async (months: Month[]) => {
      const keys = payer.viewingKeys({ months, change: true });
      const wallet = await ViewingWallet.open({
        ...{ chain: world.chain, chainId: 31337n, pool: POOL, deploymentBlock: 0, finality: 0 },
        ...{ keys, store: new MemoryStore() },
      });
      await wallet.scan();
      return wallet.spent().map(({ by, change, month }) => [by, change, month]);
    };
    const [march, april] = [await audit([MARCH]), await audit([APRIL])];
    expect(march).to.deep.equal([
      ["payment", 8_000n, MARCH],
      ["payment", 0n, MARCH],
    ]);
    expect(april).to.deep.equal([
      ["payment", 6_000n, APRIL],
      ["payment", 0n, APRIL],
    ]);
    expect(await audit([FEBRUARY])).to.deep.equal([]);
    expect(monthAt(world.clock())).to.equal(APRIL);
  });
});
