// Pays phone numbers that are linked and verified at a real registry, on a real chain.

import { openPurchases, type PhonePaymentRequest, payPhone, phonePin, spentOn } from "@sotto/client";
import { randomSeed } from "@sotto/protocol";
import { clockWithin, DAY_MS } from "@sotto/test-kit/clock";
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { openWallet, openWorld, payerWith, type World } from "@sotto/test-world/wallets";
import { MemoryStore, SottoService, type Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { dyingStore } from "../../packages/wallet/test/support/world.ts";
import { type Person, Phones } from "./support/phones.ts";

const AMOUNT = 20_000n;
const SLOT = 300;

describe("paying a phone number", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let phones: Phones;
  let payer: Wallet;
  const clock = clockWithin(DAY_MS);
  before(async () => {
    world = await openWorld();
    phones = await Phones.open(world);
    payer = await payerWith(
      world,
      Array.from({ length: 6 }, () => 100_000n),
      { clock },
    );
  });
  after(() => phones?.close());

  const someone = async (): Promise<Person> => phones.person(await openWallet(world));
  const linked = async () => {
    const [person, phone] = [await someone(), phones.newNumber()];
    // Linked one slot earlier, so that a later holder of the number signs a newer link.
    await phones.link(phone, person, true, Math.floor(Date.now() / 1000) - SLOT);
    return { person, phone };
  };
  const pay = (phone: string, changes: Partial<PhonePaymentRequest> & { from?: Wallet } = {}, options = {}) => {
    const { from = payer, ...more } = changes;
    return payPhone(
      from,
      world.service,
      { phone, amount: AMOUNT, key: "rent", registry: phones.client, ...more },
      options,
    );
  };
  const received = async ({ wallet }: Person) => {
    await wallet.scan();
    return wallet.balance().total;
  };

  it("pays the number's holder once per key", async () => {
    const { person, phone } = await linked();
    const paid = await pay(phone);
    expect(paid).to.include({ wallet: person.account.address.toLowerCase(), amount: AMOUNT });
    expect(paid.shieldedAddress).to.equal(person.wallet.shieldedAddress);
    expect((await world.provider.getTransactionReceipt(paid.txSignature))?.status).to.equal(1);
    expect(await received(person)).to.equal(AMOUNT);
    expect(await pay(`${phone.slice(0, 3)} ${phone.slice(3)}`), "again, written otherwise").to.deep.equal(paid);
    expect(await received(person)).to.equal(AMOUNT);
    await pay(phone, { key: "rent of another month" });
    expect(await received(person)).to.equal(2n * AMOUNT);
    expect(await openPurchases(payer)).to.deep.equal([]);
    expect((await phonePin(payer.store, phone))?.wallet).to.equal(paid.wallet);
  });

  it("does not reveal the number to the settling service", async () => {
    const { phone } = await linked();
    const bodies: string[] = [];
    const send: typeof fetch = (url, init) => {
      bodies.push(String(init?.body));
      return fetch(url, init);
    };
    const service = new SottoService(world.service.url, { fetch: send });
    const { id } = await payPhone(payer, service, { phone, amount: AMOUNT, key: "1", registry: phones.client });
    const sent = bodies.join();
    expect(sent).to.match(/"urn:sotto:phone:[0-9a-f]{32}"/);
    // The payment's id is a hash of number and key, so trying all numbers would reveal the number.
    for (const known of [id, phone.slice(1)]) expect(sent).to.not.include(known);
  });

  it("is rejected with another amount, purpose or service under a key that was used before", async () => {
    const { person, phone } = await linked();
    await pay(phone);
    for (const changes of [{ amount: AMOUNT + 1n }, { resourceUrl: "sotto:other" }])
      expect((await rejection(pay(phone, changes))).code).to.equal("PURCHASE_MISMATCH");
    expect(await received(person)).to.equal(AMOUNT);
  });

  it("is rejected if the number is unknown or unverified", async () => {
    const phone = phones.newNumber();
    expect((await rejection(pay(phone))).code).to.equal("PHONE_UNKNOWN");
    await phones.link(phone, await someone(), false);
    expect((await rejection(pay(phone))).code).to.match(/^PHONE_(UNVERIFIED|UNKNOWN)$/);
    expect(await phonePin(payer.store, phone)).to.equal(undefined);
  });

  it("is rejected if the request is invalid", async () => {
    const { phone } = await linked();
    const before = payer.balance().total;
    for (const key of ["", "k".repeat(257), undefined, 5])
      expect((await rejection(pay(phone, { key: key as string }))).code).to.equal("PHONE_OPTION_INVALID");
    expect((await rejection(pay(phone, { amount: 0n }))).code).to.equal("INVALID_OPTION");
    expect((await rejection(pay(phone, { amount: 1 as never }))).code).to.equal("INVALID_AMOUNT");
    expect((await rejection(pay("0151 2345"))).code).to.equal("PHONE_NUMBER_INVALID");
    expect((await rejection(payPhone(payer, world.service, undefined as never))).code).to.equal("PHONE_NUMBER_INVALID");
    await payer.scan();
    expect(payer.balance().total).to.equal(before);
    expect(await openPurchases(payer)).to.deep.equal([]);
  });

  it("counts against limits", async () => {
    const { phone } = await linked();
    const spent = await spentOn(payer.store, clock());
    const limits = { perDay: spent + AMOUNT - 1n };
    expect((await rejection(pay(phone, { limits }))).code).to.equal("DAY_LIMIT_EXCEEDED");
    await pay(phone, { limits: { perDay: spent + AMOUNT } });
    expect(await spentOn(payer.store, clock(), "phone")).to.equal(AMOUNT);
  });

  it("pays once if the same payment is requested twice concurrently", async () => {
    const { person, phone } = await linked();
    const outcomes = await Promise.allSettled([pay(phone), pay(phone)]);
    expect(outcomes.map(({ status }) => status).sort()).to.deep.equal(["fulfilled", "rejected"]);
    const lost = outcomes.find((outcome) => outcome.status === "rejected");
    expect(lost?.reason.code).to.equal("PURCHASE_IN_PROGRESS");
    expect(await received(person)).to.equal(AMOUNT);
  });

  it("completes two payments that pin a number concurrently", async () => {
    const { person, phone } = await linked();
    const paid = await Promise.all([pay(phone), pay(phone, { key: "other" })]);
    expect(new Set(paid.map(({ digest }) => digest)).size).to.equal(2);
    expect(await received(person)).to.equal(2n * AMOUNT);
  });

  it("does not pay a new holder until the change is confirmed", async () => {
    const { person, phone } = await linked();
    await pay(phone);
    const thief = await someone();
    await phones.link(phone, thief);
    const error = await rejection(pay(phone, { key: "next" }));
    expect(error.code).to.equal("PHONE_CHANGED");
    expect(error.details).to.include({ offeredWallet: thief.account.address.toLowerCase() });
    expect(await received(thief)).to.equal(0n);
    const acceptChange = { wallet: thief.account.address };
    expect((await pay(phone, { key: "next" }, { acceptChange })).wallet).to.equal(thief.account.address.toLowerCase());
    expect([await received(person), await received(thief)]).to.deep.equal([AMOUNT, AMOUNT]);
  });

  it("can be aborted and resumed", async () => {
    const { person, phone } = await linked();
    const stop = new AbortController();
    const onProgress = ({ stage }: { stage: string }) => {
      if (stage === "settling") stop.abort(new Error("no more"));
    };
    const stopped = await pay(phone, {}, { signal: stop.signal, onProgress }).catch((error: Error) => error);
    expect(stopped).to.include({ message: "no more" });
    const paid = await pay(phone);
    expect(await received(person)).to.equal(AMOUNT);
    expect(await pay(phone)).to.deep.equal(paid);
  });
});

describe("paying a phone number, killed at every write", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let phones: Phones;
  before(async () => {
    world = await openWorld();
    phones = await Phones.open(world);
  });
  after(() => phones?.close());

  it("pays once, to the original wallet, even if the number changes hands meanwhile", async () => {
    const seed = randomSeed();
    const store = new MemoryStore();
    await payerWith(world, [40_000n, 40_000n, 300_000n], { seed, store });
    // Like a separate process, it knows only the data on disk.
    const process = (writes = Number.POSITIVE_INFINITY, after = false) =>
      openWallet(world, { seed, store: dyingStore(store, writes, after) });
    const [first, second] = [phones.person(await openWallet(world)), phones.person(await openWallet(world))];
    const expected = { first: 0n, second: 0n };
    let [died, kept] = [0, 0];
    for (let writes = 0; ; writes += 1) {
      const phone = phones.newNumber();
      await phones.link(phone, first, true, Math.floor(Date.now() / 1000) - SLOT);
      const request = { phone, amount: 5_000n, key: "once", registry: phones.client };
      const dying = await process(writes, writes % 2 === 0).catch(() => undefined);
      if (dying === undefined) continue;
      const outcome = await payPhone(dying, world.service, request).catch((error: Error) => error);
      await phones.link(phone, second);
      const again = await process();
      const begun = (await openPurchases(again)).length > 0;
      const { wallet } = await payPhone(again, world.service, request, { confirmChange: () => true });
      const toFirst = wallet === first.account.address.toLowerCase();
      expected[toFirst ? "first" : "second"] += 5_000n;
      if (!(outcome instanceof Error)) break;
      died += 1;
      if (begun && toFirst) kept += 1;
    }
    for (const [name, person] of Object.entries({ first, second })) {
      await person.wallet.scan();
      expect(person.wallet.balance().total, name).to.equal(expected[name as "first"]);
    }
    expect(died).to.be.greaterThan(8);
    expect(kept, "resumed with the original holder").to.be.greaterThan(3);
    expect(expected.second > 0n, "not begun: paid to the new holder, as was confirmed").to.equal(true);
  });
});
