import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { rejection } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { type PhoneChange, phonePin } from "../../src/phone/pins.ts";
import { lookUpPhone, type ResolveOptions } from "../../src/phone/resolve.ts";
import { BEGIN, keyOf, LyingRegistry, PHONE } from "../support/phone-registry.ts";
import { openPhoneWorld, other, otherWallet, type PhoneWorld } from "../support/phone-world.ts";

describe("the pinned wallet of a number", () => {
  let registry: PhoneWorld["registry"];
  let wallet: PhoneWorld["wallet"];
  let resolve: PhoneWorld["resolve"];
  let pinned: PhoneWorld["pinned"];
  beforeEach(async () => {
    ({ registry, wallet, resolve, pinned } = await openPhoneWorld());
  });
  afterEach(() => registry.close());

  it("is pinned at first use and checked from then on", async () => {
    const first = await resolve();
    expect(first.wallet).to.equal(registry.owner.address.toLowerCase());
    expect(await phonePin(wallet.store, PHONE)).to.deep.equal({
      wallet: first.wallet,
      shieldedAddress: keyOf(1),
      issuedAt: BEGIN,
      registry: registry.url,
    });
    const { phone: _, ...pin } = first;
    expect((await lookUpPhone(wallet, registry.client(), PHONE)).known).to.deep.equal(pin);
    expect(await resolve()).to.deep.equal(first);
  });

  it("is stored without the number", async () => {
    await resolve();
    const written = JSON.stringify(await wallet.store.list("pin/"));
    expect(written).to.include(registry.owner.address.toLowerCase());
    expect(written).to.not.include(PHONE.slice(1));
  });

  it("is not paid after a change, for example by a SIM swap or a lying registry", async () => {
    await resolve();
    registry.serve({ signer: other, issuedAt: BEGIN + 300 });
    const error = await rejection(resolve());
    expect(error.code).to.equal("PHONE_CHANGED");
    expect(error.details).to.deep.equal({
      knownWallet: registry.owner.address.toLowerCase(),
      knownKey: keyOf(1),
      knownIssuedAt: BEGIN,
      offeredWallet: otherWallet,
      offeredKey: keyOf(1),
      offeredIssuedAt: BEGIN + 300,
    });
    expect(await pinned()).to.equal(registry.owner.address.toLowerCase());
    expect((await lookUpPhone(wallet, registry.client(), PHONE)).standing).to.equal("changed");
  });

  it("is not paid at another key of the same wallet", async () => {
    await resolve();
    registry.serve({ key: keyOf(2), issuedAt: BEGIN + 300 });
    expect((await rejection(resolve())).code).to.equal("PHONE_CHANGED");
    expect((await resolve({ confirmChange: () => true })).shieldedAddress).to.equal(keyOf(2));
    expect((await phonePin(wallet.store, PHONE))?.shieldedAddress).to.equal(keyOf(2));
  });

  it("changes after confirmation", async () => {
    await resolve();
    registry.serve({ signer: other, issuedAt: BEGIN + 300 });
    const asked: PhoneChange[] = [];
    const confirm = (answer: unknown) => (change: PhoneChange) => {
      asked.push(change);
      return answer as boolean;
    };
    for (const answer of [false, undefined, "yes", 1, Promise.resolve(false)])
      expect((await rejection(resolve({ confirmChange: confirm(answer) }))).code).to.equal("PHONE_CHANGED");
    expect(await pinned()).to.equal(registry.owner.address.toLowerCase());
    expect((await resolve({ confirmChange: confirm(Promise.resolve(true)) })).wallet).to.equal(otherWallet);
    expect(asked[0]!.phone).to.equal(PHONE);
    expect([asked[0]!.known.wallet, asked[0]!.offered.wallet]).to.deep.equal([
      registry.owner.address.toLowerCase(),
      otherWallet,
    ]);
    expect(await pinned()).to.equal(otherWallet);
    expect((await resolve()).wallet, "no question any more").to.equal(otherWallet);
    expect(asked).to.have.length(6);
  });

  it("changes only to the accepted wallet and key", async () => {
    await resolve();
    registry.serve({ signer: other, key: keyOf(2), issuedAt: BEGIN + 300 });
    const wrong = [
      { wallet: registry.owner.address },
      { wallet: Account.createRandom().address },
      { wallet: other.address, shieldedAddress: keyOf(1) },
      {} as { wallet: string },
    ];
    for (const acceptChange of wrong)
      expect((await rejection(resolve({ acceptChange }))).code).to.equal("PHONE_CHANGED");
    const exact = { wallet: other.address, shieldedAddress: keyOf(2) };
    expect((await resolve({ acceptChange: exact })).wallet).to.equal(otherWallet);
  });

  it("never returns to an older link, even if confirmed", async () => {
    await resolve();
    registry.serve({ signer: other, issuedAt: BEGIN + 300 });
    const all: ResolveOptions = { confirmChange: () => true };
    await resolve(all);
    const former = { wallet: registry.owner.address };
    registry.serve({ issuedAt: BEGIN });
    for (const options of [{}, all, { acceptChange: former }]) {
      const error = await rejection(resolve(options));
      expect(error.code).to.equal("PHONE_ROLLBACK");
      expect(error.details).to.include({ knownIssuedAt: BEGIN + 300, offeredIssuedAt: BEGIN });
    }
    expect((await rejection(lookUpPhone(wallet, registry.client(), PHONE))).code).to.equal("PHONE_ROLLBACK");
    expect(await pinned()).to.equal(otherWallet);
    registry.serve({ signer: other, issuedAt: BEGIN });
    expect((await rejection(resolve())).code, "its own older link").to.equal("PHONE_ROLLBACK");
    registry.serve({ issuedAt: BEGIN + 300 });
    expect((await rejection(resolve())).code, "of the same slot").to.equal("PHONE_CHANGED");
    expect((await resolve({ acceptChange: former })).wallet).to.equal(registry.owner.address.toLowerCase());
  });

  it("records a newer link of the same wallet and key, so that an older link is detected", async () => {
    await resolve();
    registry.serve({ issuedAt: BEGIN + 300 });
    await resolve();
    expect((await phonePin(wallet.store, PHONE))?.issuedAt).to.equal(BEGIN + 300);
    registry.serve();
    expect((await rejection(resolve())).code).to.equal("PHONE_ROLLBACK");
  });

  it("is shared by all registries, so that a second one cannot replace it", async () => {
    registry.serve({ issuedAt: BEGIN + 300 });
    await resolve();
    const second = closedAfterTest(await LyingRegistry.open());
    second.serve({ signer: other });
    expect((await rejection(resolve({ confirmChange: () => true }, second))).code).to.equal("PHONE_ROLLBACK");
    second.serve({ signer: other, issuedAt: BEGIN + 300 });
    expect((await rejection(resolve({}, second))).code).to.equal("PHONE_CHANGED");
    // An older link of the same wallet at another registry is accepted, because the recipient does not change.
    second.serve({ signer: registry.owner });
    expect((await resolve({}, second)).registry).to.equal(second.url);
    expect((await phonePin(wallet.store, PHONE))?.issuedAt, "the newest stays").to.equal(BEGIN + 300);
  });
});
