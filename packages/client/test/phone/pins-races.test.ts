import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { type PhoneChange, phonePin, pinPhone } from "../../src/phone/pins.ts";
import { lookUpPhone, type ResolveOptions, resolvePhone } from "../../src/phone/resolve.ts";
import { MemoryStore } from "../../src/store/memory.ts";
import type { Store } from "../../src/store/store.ts";
import type { Wallet } from "../../src/wallet/wallet.ts";
import { BEGIN, LyingRegistry, PHONE, withoutWallets } from "../support/phone-registry.ts";
import { rejection } from "../support/rejection.ts";
import { SEED } from "../support/shop.ts";
import { dyingStore, World } from "../support/world.ts";

describe("a pinned number, under races and crashes", () => {
  let registry: LyingRegistry;
  let world: World;
  let wallet: Wallet;
  /** Who has the number next: the new owner of a SIM card, or a thief of it. */
  const other = Account.createRandom();
  const otherWallet = other.address.toLowerCase();

  beforeEach(async () => {
    registry = await LyingRegistry.open();
    world = new World();
    wallet = await open(new MemoryStore());
    registry.serve();
  });
  afterEach(() => registry.close());

  const open = (store: Store) => world.wallet({ chain: withoutWallets(world.chain), store, seed: SEED });
  const resolve = (options: ResolveOptions = {}, from = registry) =>
    resolvePhone(wallet, from.client(), PHONE, options);
  const pinned = async () => (await phonePin(wallet.store, PHONE))?.wallet;

  it("is pinned once where two payments pin it at the same moment", async () => {
    const found = await lookUpPhone(wallet, registry.client(), PHONE);
    registry.serve({ signer: other });
    const elsewhere = await lookUpPhone(wallet, registry.client(), PHONE);
    const outcomes = await Promise.allSettled(
      [found, elsewhere, found, elsewhere].map((recipient) => pinPhone(wallet.store, recipient, {})),
    );
    const winner = await pinned();
    expect(outcomes.map(({ status }) => status).filter((status) => status === "fulfilled")).to.have.length(2);
    for (const [i, outcome] of outcomes.entries()) {
      const { wallet: paid } = [found, elsewhere][i % 2]!;
      expect(outcome.status, `${i}`).to.equal(paid === winner ? "fulfilled" : "rejected");
      if (outcome.status === "rejected") expect(outcome.reason.code).to.equal("PHONE_CHANGED");
    }
  });

  it("asks again where the answer came after somebody else's pin", async () => {
    registry.serve({ issuedAt: BEGIN - 300 });
    await resolve();
    const third = Account.createRandom();
    registry.serve({ signer: third, issuedAt: BEGIN + 300 });
    const later = await lookUpPhone(wallet, registry.client(), PHONE);
    registry.serve({ signer: other });
    const asked: string[] = [];
    const confirmChange = async ({ known }: PhoneChange) => {
      asked.push(known.wallet);
      if (asked.length === 1) await pinPhone(wallet.store, later, { acceptChange: { wallet: third.address } });
      return true;
    };
    // Confirmed against the first pin; by then the second one is there, and it is newer.
    expect((await rejection(resolve({ confirmChange }))).code).to.equal("PHONE_ROLLBACK");
    expect(asked).to.deep.equal([registry.owner.address.toLowerCase()]);
    expect(await pinned()).to.equal(third.address.toLowerCase());
  });

  it("is either pinned or not when the process dies on the way", async () => {
    for (const after of [false, true]) {
      const store = new MemoryStore();
      await open(store);
      const found = await lookUpPhone(wallet, registry.client(), PHONE);
      await pinPhone(dyingStore(store, 0, after), found, {}).then(
        () => expect.fail("it should have died"),
        () => undefined,
      );
      const again = await open(store);
      expect((await phonePin(again.store, PHONE))?.wallet).to.equal(after ? found.wallet : undefined);
      registry.serve({ signer: other, issuedAt: BEGIN + 300 });
      const later = resolvePhone(again, registry.client(), PHONE);
      if (after) expect((await rejection(later)).code).to.equal("PHONE_CHANGED");
      else expect((await later).wallet).to.equal(otherWallet);
      registry.serve();
    }
  });

  it("is nobody's while the store's record of it cannot be read", async () => {
    await resolve();
    const [record] = await wallet.store.list("pin/phone/");
    for (const value of ["", null, {}, { wallet: otherWallet }, { ...(record!.value as object), issuedAt: "1" }, []]) {
      await wallet.store.put(record!.key, value as never);
      expect((await rejection(resolve())).code).to.equal("STORE_DAMAGED");
    }
  });
});
