import { rejection } from "@sotto/test-kit/rejection";
import { MemoryStore } from "@sotto/wallet";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { dyingStore } from "../../../wallet/test/support/world.ts";
import { type PhoneChange, phonePin, pinPhone } from "../../src/phone/pins.ts";
import { lookUpPhone, resolvePhone } from "../../src/phone/resolve.ts";
import { BEGIN, PHONE } from "../support/phone-registry.ts";
import { openPhoneWorld, other, otherWallet, type PhoneWorld } from "../support/phone-world.ts";

describe("phone pins under races and crashes", () => {
  let registry: PhoneWorld["registry"];
  let wallet: PhoneWorld["wallet"];
  let open: PhoneWorld["open"];
  let resolve: PhoneWorld["resolve"];
  let pinned: PhoneWorld["pinned"];
  beforeEach(async () => {
    ({ registry, wallet, open, resolve, pinned } = await openPhoneWorld());
  });
  afterEach(() => registry.close());

  it("are written once if two payments pin concurrently", async () => {
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

  it("ask for confirmation again if the pin changed before the answer", async () => {
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
    // The user confirmed a change of the first pin, but a newer pin has replaced it meanwhile.
    expect((await rejection(resolve({ confirmChange }))).code).to.equal("PHONE_ROLLBACK");
    expect(asked).to.deep.equal([registry.owner.address.toLowerCase()]);
    expect(await pinned()).to.equal(third.address.toLowerCase());
  });

  it("are written completely or not at all if the process dies", async () => {
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

  it("block the payment while the stored record is unreadable", async () => {
    await resolve();
    const [record] = await wallet.store.list("pin/phone/");
    for (const value of ["", null, {}, { wallet: otherWallet }, { ...(record!.value as object), issuedAt: "1" }, []]) {
      await wallet.store.put(record!.key, value as never);
      expect((await rejection(resolve())).code).to.equal("STORE_DAMAGED");
    }
  });
});
