import { expect } from "chai";
import { checkRecipientPhone, expectPhoneRecipient } from "../../src/phone/recipient.ts";
import type { ResolveOptions } from "../../src/phone/resolve.ts";
import { BEGIN, keyOf, PHONE } from "../support/phone-registry.ts";
import { openPhoneWorld, other, otherWallet, type PhoneWorld } from "../support/phone-world.ts";
import { rejection, thrown } from "../support/rejection.ts";

describe("the phone number of a 402 answer", () => {
  let registry: PhoneWorld["registry"];
  let wallet: PhoneWorld["wallet"];
  let pinned: PhoneWorld["pinned"];
  beforeEach(async () => {
    ({ registry, wallet, pinned } = await openPhoneWorld());
  });
  afterEach(() => registry.close());

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
