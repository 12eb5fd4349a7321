// A server whose 402 responses name a phone number: the client pays only if the registry confirms the number.

import { openPurchases, phonePin, signBinding, type WrapOptions, wrapFetch } from "@sotto/client";
import type { PaymentInstructions } from "@sotto/protocol";
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { SmallServer } from "@sotto/test-world/small-server";
import { openWallet, openWorld, payerWith, type World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { type Person, Phones } from "./support/phones.ts";

const PRICE = 10_000n;

describe("a 402 with a phone number", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let phones: Phones;
  let server: SmallServer;
  let merchant: Person;
  let number: string;
  before(async () => {
    world = await openWorld();
    phones = await Phones.open(world);
    merchant = phones.person(await openWallet(world));
    server = await SmallServer.open(world, merchant.wallet, { price: PRICE, account: merchant.account });
    number = phones.newNumber();
    await phones.link(number, merchant);
  });
  after(async () => {
    await server?.close();
    await phones?.close();
  });

  /** Makes the server's 402 show the wallet and key of `person`, with a valid signature, and this number. */
  const show = async (phone: string, { account, wallet }: Person) => {
    const { binding, signature } = await signBinding(wallet, account, { phone, service: phones.url });
    const { wallet: address, key, issuedAt, service } = binding;
    const encryptedMapping = true;
    const recipient = { phone, wallet: address, encryptedMapping, shieldedAddress: key, signature, issuedAt, service };
    server.options.tamper = (instructions: PaymentInstructions) => ({
      ...instructions,
      payment: { ...instructions.payment, recipient },
    });
  };
  const buy = (wallet: Wallet, options: Partial<WrapOptions> = {}) => {
    const services = { services: [world.serviceUrl], phoneRegistry: phones.url };
    return wrapFetch(fetch, wallet, { ...services, maxPerRequest: PRICE, ...options })(`${server.url}/report`);
  };
  const untouched = async (wallet: Wallet) => {
    expect(await openPurchases(wallet)).to.deep.equal([]);
    await wallet.scan();
    expect(wallet.balance().total).to.equal(100_000n);
  };

  it("is paid and pinned if the number is the recipient's", async () => {
    await show(number, merchant);
    const wallet = await payerWith(world, [100_000n]);
    let lookups = 0;
    const serviceFetch: typeof fetch = (input, init) => {
      if (String(input).includes("/phone/resolve/")) lookups += 1;
      return fetch(input, init);
    };
    expect((await buy(wallet, { serviceFetch })).status).to.equal(200);
    expect((await phonePin(wallet.store, number))?.wallet).to.equal(merchant.account.address.toLowerCase());
    // The client does not ask the registry for every payment.
    expect((await buy(wallet, { serviceFetch })).status).to.equal(200);
    expect(lookups).to.equal(1);
  });

  it("is rejected if the number belongs to someone else, is unknown, or has another key", async () => {
    const wallet = await payerWith(world, [100_000n]);
    const [stranger, phone] = [phones.person(await openWallet(world)), phones.newNumber()];
    await phones.link(phone, stranger);
    await show(phone, merchant);
    expect((await rejection(buy(wallet))).details).to.deep.equal({ field: "wallet" });
    const broken = { account: merchant.account, wallet: stranger.wallet };
    await show(number, broken);
    const error = await rejection(buy(wallet));
    expect([error.code, error.details["field"]]).to.deep.equal(["PHONE_RECIPIENT_MISMATCH", "shieldedAddress"]);
    await show(phones.newNumber(), merchant);
    expect((await rejection(buy(wallet))).code).to.equal("PHONE_UNKNOWN");
    for (const each of [phone, number]) expect(await phonePin(wallet.store, each)).to.equal(undefined);
    await untouched(wallet);
  });

  it("is rejected if the number's wallet changed since the last payment, until confirmed", async () => {
    const [wallet, moving] = [await payerWith(world, [110_000n]), phones.newNumber()];
    // Linked one slot earlier, so that the successor's link is newer.
    await phones.link(moving, merchant, true, Math.floor(Date.now() / 1000) - 300);
    await show(moving, merchant);
    expect((await buy(wallet)).status).to.equal(200);
    const successor = phones.person(merchant.wallet);
    await phones.link(moving, successor);
    await show(moving, successor);
    expect((await rejection(buy(wallet))).code).to.equal("PHONE_CHANGED");
    await untouched(wallet);
    // The server does accept payments to its new account.
    Object.assign(server, { account: successor.account });
    const sure = { phone: { confirmChange: () => true }, confirmRecipient: () => true };
    expect((await buy(wallet, sure)).status).to.equal(200);
    expect((await phonePin(wallet.store, moving))?.wallet).to.equal(successor.account.address.toLowerCase());
    Object.assign(server, { account: merchant.account });
  });

  it("is not looked up without a configured registry", async () => {
    const wallet = await payerWith(world, [100_000n]);
    await show(phones.newNumber(), merchant);
    const { status } = await wrapFetch(fetch, wallet, { services: [world.serviceUrl], maxPerRequest: PRICE })(
      `${server.url}/report`,
    );
    expect(status).to.equal(200);
  });
});
