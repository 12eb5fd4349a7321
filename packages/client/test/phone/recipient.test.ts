import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { phonePin } from "../../src/phone/pins.ts";
import { checkRecipientPhone, expectPhoneRecipient } from "../../src/phone/recipient.ts";
import type { ResolveOptions } from "../../src/phone/resolve.ts";
import { MemoryStore } from "../../src/store/memory.ts";
import type { Store } from "../../src/store/store.ts";
import type { Wallet } from "../../src/wallet/wallet.ts";
import { BEGIN, keyOf, LyingRegistry, PHONE, withoutWallets } from "../support/phone-registry.ts";
import { rejection, thrown } from "../support/rejection.ts";
import { SEED } from "../support/shop.ts";
import { World } from "../support/world.ts";

describe("the phone number of a 402 answer", () => {
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
  const pinned = async () => (await phonePin(wallet.store, PHONE))?.wallet;

  const recipient = () => ({
    phone: PHONE,
    wallet: registry.owner.address.toLowerCase() as `0x${string}`,
    shieldedAddress: keyOf(1),
  });
  const check = (changes: object = {}, options: ResolveOptions = {}) =>
    checkRecipientPhone(wallet, registry.client(), { ...recipient(), ...changes }, options);

  it("must be the wallet and the key that are to be paid", async () => {
    await check();
    expect(await pinned()).to.equal(recipient().wallet);
    for (const [field, value] of [
      ["wallet", otherWallet],
      ["wallet", "0x"],
      ["wallet", undefined],
      ["shieldedAddress", keyOf(2)],
      ["shieldedAddress", keyOf(1).toUpperCase()],
    ] as const) {
      const error = await rejection(check({ [field]: value }));
      expect([error.code, error.details["field"]]).to.deep.equal(["PHONE_RECIPIENT_MISMATCH", field]);
    }
    const spelled = { ...recipient(), wallet: registry.owner.address as `0x${string}` };
    expectPhoneRecipient(spelled, recipient());
    const error = thrown(() => expectPhoneRecipient({ ...recipient(), phone: "+14155550124" }, recipient()));
    expect([error.code, error.details["field"]]).to.deep.equal(["PHONE_RECIPIENT_MISMATCH", "phone"]);
    expect(JSON.stringify([error.message, error.details])).to.not.include("555");
  });

  it("is not pinned by a shop that names somebody else's", async () => {
    expect((await rejection(check({ wallet: otherWallet }))).code).to.equal("PHONE_RECIPIENT_MISMATCH");
    expect(await pinned()).to.equal(undefined);
  });

  it("is refused where it has changed, though shop and registry agree", async () => {
    await check();
    registry.serve({ signer: other, issuedAt: BEGIN + 300 });
    const moved = { wallet: otherWallet };
    expect((await rejection(check(moved))).code).to.equal("PHONE_CHANGED");
    await check(moved, { confirmChange: () => true });
    expect(await pinned()).to.equal(otherWallet);
  });

  it("is not asked for where it names none", async () => {
    await check({ phone: "" });
    expect(registry.asked).to.deep.equal([]);
  });
});
