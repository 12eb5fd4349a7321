import { parseMonth } from "@sotto/protocol";
import { rejection, thrown } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { phonePin } from "../../src/phone/pins.ts";
import { assertPhoneMatches, assertRecipientPhone, type RecipientOptions } from "../../src/phone/recipient.ts";
import { BEGIN, keyOf, keysOf, LyingRegistry, PHONE } from "../support/phone-registry.ts";
import { openPhoneWorld, other, otherWallet, type PhoneWorld } from "../support/phone-world.ts";

describe("the phone number of a 402", () => {
  let registry: PhoneWorld["registry"];
  let wallet: PhoneWorld["wallet"];
  let pinned: PhoneWorld["pinned"];
  let pass: PhoneWorld["pass"];
  let resolve: PhoneWorld["resolve"];
  beforeEach(async () => {
    ({ registry, wallet, pinned, pass, resolve } = await openPhoneWorld());
  });
  afterEach(() => registry.close());

  const recipient = () => ({
    phone: PHONE,
    wallet: registry.owner.address.toLowerCase() as `0x${string}`,
    shieldedAddress: keyOf(1),
  });
  const check = (changes: object = {}, options: RecipientOptions = {}) =>
    assertRecipientPhone(wallet, registry.client(), { ...recipient(), ...changes }, options);

  it("must resolve to the 402's wallet and key", async () => {
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
    assertPhoneMatches(spelled, recipient());
    const error = thrown(() => assertPhoneMatches({ ...recipient(), phone: "+14155550124" }, recipient()));
    expect([error.code, error.details["field"]]).to.deep.equal(["PHONE_RECIPIENT_MISMATCH", "phone"]);
    expect(JSON.stringify([error.message, error.details])).to.not.include("555");
  });

  it("may come with the address of a month of the same wallet and owner tag, which changes no pin", async () => {
    const ofMonth = keysOf(1).ofMonth(parseMonth("2027-01")).shieldedAddress;
    await check({ shieldedAddress: ofMonth });
    expect((await phonePin(wallet.store, PHONE))?.shieldedAddress).to.equal(keyOf(1));
    await check({ shieldedAddress: ofMonth });
    await check();
    expect(registry.asked).to.have.length(1);
    const foreign = keysOf(2).ofMonth(parseMonth("2027-01")).shieldedAddress;
    const error = await rejection(check({ shieldedAddress: foreign }));
    expect([error.code, error.details["field"]]).to.deep.equal(["PHONE_RECIPIENT_MISMATCH", "shieldedAddress"]);
    // Direct payments go to the registry's own address, and are asked about if its key changes.
    registry.serve({ key: ofMonth, issuedAt: BEGIN + 300 });
    expect((await rejection(resolve())).code).to.equal("PHONE_CHANGED");
  });

  it("is not pinned if the server names another holder's number", async () => {
    expect((await rejection(check({ wallet: otherWallet }))).code).to.equal("PHONE_RECIPIENT_MISMATCH");
    expect(await pinned()).to.equal(undefined);
  });

  it("is rejected after a change, even if the server and the registry agree", async () => {
    await check();
    registry.serve({ signer: other, issuedAt: BEGIN + 300 });
    const moved = { wallet: otherWallet };
    expect((await rejection(check(moved))).code).to.equal("PHONE_CHANGED");
    await check(moved, { confirmChange: () => true });
    expect(await pinned()).to.equal(otherWallet);
  });

  it("is looked up once a day", async () => {
    for (let n = 0; n < 5; n += 1) await check();
    expect(registry.asked).to.have.length(1);
    pass(86_399);
    await check();
    expect(registry.asked).to.have.length(1);
    pass(1);
    await check();
    await check();
    expect(registry.asked).to.have.length(2);
    // Setting the clock back does not extend the cache.
    pass(-3_600);
    await check();
    expect(registry.asked).to.have.length(3);
  });

  it("is looked up again if the 402 or the pin names another wallet", async () => {
    await check();
    expect((await rejection(check({ wallet: otherWallet }))).code).to.equal("PHONE_RECIPIENT_MISMATCH");
    expect(registry.asked).to.have.length(2);
    registry.serve({ signer: other, issuedAt: BEGIN + 300 });
    await resolve({ confirmChange: () => true });
    expect((await rejection(check())).code).to.equal("PHONE_RECIPIENT_MISMATCH");
  });

  it("is looked up again after its binding expired, or when the payer asks for it", async () => {
    registry.serve({ issuedAt: BEGIN - 400 * 86_400 + 7_200 });
    await check();
    pass(3_600);
    await check({}, { cacheMs: 86_400_000 });
    expect(registry.asked).to.have.length(1);
    await check({}, { cacheMs: 1_000 });
    await check({}, { cacheMs: 0 });
    expect(registry.asked).to.have.length(3);
    pass(3_600);
    expect((await rejection(check())).code).to.equal("PHONE_BINDING_EXPIRED");
  });

  it("is looked up at each registry, but not if its stored record is damaged", async () => {
    await check();
    const second = await LyingRegistry.open();
    Object.assign(second, { owner: registry.owner });
    second.serve();
    await assertRecipientPhone(wallet, second.client(), recipient());
    expect(second.asked).to.have.length(1);
    await second.close();
    for (const { key } of await wallet.store.list("phone/known/")) await wallet.store.put(key, { wallet: 7 });
    expect((await rejection(check())).code).to.equal("STORE_DAMAGED");
  });

  it("is not looked up if the 402 has no number", async () => {
    await check({ phone: "" });
    expect(registry.asked).to.deep.equal([]);
  });
});
