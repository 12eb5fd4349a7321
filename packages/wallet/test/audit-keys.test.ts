// Viewing wallets whose keys change, and those that have change keys.
import { deriveKeys, parseMonth, randomSeed } from "@sotto/protocol";
import { POOL } from "@sotto/test-chain/pool";
import { rejection } from "@sotto/test-kit/rejection";
import { MemoryStore, type Store, ViewingWallet, viewingKeysOf, type Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { MERCHANT, World } from "./support/world.ts";

describe("audit keys", () => {
  let world: World;
  let owner: Wallet;
  let other: Wallet;
  beforeEach(async () => {
    world = new World();
    owner = await world.funded([5_000n, 5_000n]);
    other = await world.wallet();
  });

  /** The months of two payments. The chain begins in January. */
  const [JANUARY, FEBRUARY, JUNE] = [parseMonth("2027-01"), parseMonth("2027-02"), parseMonth("2027-06")];
  const february = () => {
    world.chain.time = Date.parse("2027-02-15T12:00Z") / 1000;
    world.chain.mine();
  };
  const pay = async (from: Wallet, shieldedAddress: string, amount: bigint) => {
    world.settle(
      await from.pay({ recipient: { wallet: MERCHANT, shieldedAddress }, amount, resourceUrl: "https://a.example" }),
    );
    await world.append();
  };
  const read = async (options: Parameters<Wallet["viewingKeys"]>[0], store: Store = new MemoryStore()) => {
    const place = { chain: world.chain, chainId: 31337n, pool: POOL, deploymentBlock: 0, finality: 0 };
    const wallet = await ViewingWallet.open({ ...place, keys: owner.viewingKeys(options), store });
    await wallet.scan();
    return wallet;
  };
  const changesOf = (wallet: ViewingWallet) => wallet.spent().map(({ by, change, month }) => [by, change, month]);

  it("show the change of their months' payments and withdrawals, and none of other months", async () => {
    await pay(owner, other.shieldedAddress, 1_000n);
    february();
    await pay(owner, other.shieldedAddress, 5_000n);
    const withdrawal = await owner.withdraw({ recipient: MERCHANT, amount: 1_500n });
    world.withdraw(withdrawal);
    expect(changesOf(await read({ months: [JANUARY], change: true }))).to.deep.equal([["payment", 4_000n, JANUARY]]);
    // A payment that left nothing is visible too.
    expect(changesOf(await read({ months: [FEBRUARY], change: true }))).to.deep.equal([
      ["payment", 0n, FEBRUARY],
      ["withdrawal", 2_500n, FEBRUARY],
    ]);
    for (const options of [
      { months: [JANUARY, FEBRUARY] },
      { months: [parseMonth("2026-12"), JUNE], change: true },
      { lasting: true, change: true },
    ])
      expect(changesOf(await read(options))).to.deep.equal([]);
  });

  it("find change in blocks that the store read without them", async () => {
    await pay(owner, other.shieldedAddress, 1_000n);
    const store = new MemoryStore();
    expect(changesOf(await read({ months: [JANUARY] }, store))).to.deep.equal([]);
    expect(changesOf(await read({ months: [JANUARY], change: true }, store))).to.have.lengthOf(1);
  });

  it("search blocks again that the store searched with other keys", async () => {
    const payer = await world.funded([5_000n]);
    await pay(payer, owner.addressOfMonth(JUNE), 700n);
    const store = new MemoryStore();
    const first = await read({ months: [JANUARY] }, store);
    expect([await first.search(), first.received()]).to.deep.equal([0, []]);
    const second = await read({ months: [JANUARY, JUNE] }, store);
    expect(second.received()).to.deep.equal([]);
    // Stopped before it searched, it still knows what is left.
    const third = await read({ months: [JANUARY, JUNE] }, store);
    expect(await third.search()).to.equal(1);
    expect(third.received().map(({ amount, month }) => [amount, month])).to.deep.equal([[700n, JUNE]]);
  });

  it("are those of the wallet, also without opening it", async () => {
    const seed = randomSeed();
    const keys = deriveKeys(seed, { chainId: 31337n, pool: POOL });
    const options = { months: [JANUARY], lasting: true, change: true };
    expect(viewingKeysOf(keys, options)).to.deep.equal((await world.wallet({ seed })).viewingKeys(options));
    for (const [junk, given] of [
      [undefined, options],
      [{}, options],
      [keys, undefined],
      [keys, { months: 5 }],
      [keys, { months: [] }],
    ] as const) {
      const error = await rejection(Promise.resolve().then(() => viewingKeysOf(junk as typeof keys, given as object)));
      expect(error.code).to.equal("INVALID_OPTION");
    }
  });
});
