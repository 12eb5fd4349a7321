// A paywall with addresses of months: what it checks at the start, what it publishes on each adapter, and a payment to it.

import {
  addMonths,
  assertMonthAddresses,
  type Month,
  type MonthAddresses,
  monthAt,
  type PaymentInstructions,
  SCHEDULE_PATH,
  scheduleJson,
} from "@sotto/protocol";
import { createPaywall, type PaywallOptions } from "@sotto/resource-server";
import { slow } from "@sotto/test-kit/slow";
import type { Merchant } from "@sotto/test-world/paywall/merchant";
import { createMonthMerchant, keysOfMonths, payeeAt } from "@sotto/test-world/paywall/months";
import { openPaywall, paywallOptions } from "@sotto/test-world/paywall/options";
import { headerOf, showing } from "@sotto/test-world/paywall/payments";
import { type MerchantWorld, openMerchantWorld, pay } from "@sotto/test-world/paywall/world";
import { expect } from "chai";
import { ADAPTERS, proofOf, type Sale } from "./support/servers.ts";

const thisMonth = () => monthAt(Date.now());

describe("a paywall with addresses of months", function () {
  slow(this, "a chain, a service and proofs");
  let world: MerchantWorld;
  let merchant: Merchant;
  before(async () => {
    world = await openMerchantWorld();
    merchant = await createMonthMerchant(world);
  });
  const of = (addresses: MonthAddresses, changes: Partial<PaywallOptions> = {}): Partial<PaywallOptions> => ({
    recipient: { addresses },
    ...changes,
  });
  const code = (changes: Partial<PaywallOptions>): Promise<string> =>
    openPaywall(world, changes).then(
      async (paywall) => {
        await paywall.close();
        return "opened";
      },
      (error: { code?: string }) => String(error.code),
    );

  it("opens only if the wallet signed the schedule and each address that is still to be paid", async () => {
    const { addresses } = merchant;
    const stranger = await createMonthMerchant(world);
    const changed = (index: number) =>
      assertMonthAddresses({
        ...addresses,
        bindings: addresses.bindings.map((one, i) =>
          i === index ? { ...one, signature: stranger.addresses.signature } : one,
        ),
      });
    expect(await code(of(addresses))).to.equal("opened");
    for (const index of [0, 2]) expect(await code(of(changed(index))), String(index)).to.equal("RECIPIENT_NOT_SIGNED");
    const forged = assertMonthAddresses({ ...addresses, signature: stranger.addresses.signature });
    expect(await code(of(forged))).to.equal("RECIPIENT_NOT_SIGNED");
    const elsewhere = await createMonthMerchant({ ...world, pool: `0x${"12".repeat(20)}` });
    expect(await code(of(elsewhere.addresses))).to.equal("INVALID_OPTION");
  });

  it("does not open without an address of this month", async () => {
    const month = thisMonth();
    for (const firstMonth of [addMonths(month, 1), addMonths(month, -3)]) {
      const { addresses } = await createMonthMerchant(world, { firstMonth, of: merchant });
      const error = await createPaywall(paywallOptions(world, of(addresses))).catch((caught: unknown) => caught);
      expect(error).to.include({ code: "ADDRESS_MONTH_MISSING" });
      expect((error as Error).message).to.match(/sotto address schedule/);
    }
  });

  it("does not open with more viewing keys than those of two months", async () => {
    const month = thisMonth();
    const withKeys = (months: readonly Month[]) => ({
      recipient: { addresses: merchant.addresses, viewingKeys: keysOfMonths(merchant.keys, months) },
    });
    expect(await code(withKeys([addMonths(month, -1), month]))).to.equal("opened");
    expect(await code(withKeys([addMonths(month, -1), month, addMonths(month, 1)]))).to.equal("INVALID_OPTION");
    const { keys, lasting: address } = merchant;
    const lasting = { viewingKey: keys.viewingKey, shieldedAddress: address.shieldedAddress };
    const viewingKeys = { ownerTag: merchant.keys.ownerTag(0), keys: [lasting] };
    expect(await code({ recipient: { addresses: merchant.addresses, viewingKeys } })).to.equal("INVALID_OPTION");
  });

  for (const [name, start] of ADAPTERS)
    it(`publishes its schedule and is paid on ${name}`, async () => {
      const month = thisMonth();
      const held = keysOfMonths(merchant.keys, [month]);
      const paywall = await openPaywall(world, {
        recipient: { addresses: merchant.addresses, viewingKeys: () => held },
        // Also where every request has a price.
        price: "0.01",
      });
      const sales: Sale[] = [];
      const server = await start(paywall, (sale) => {
        sales.push(sale);
        return { status: 200, text: "sold" };
      });
      try {
        const published = await fetch(server.url + SCHEDULE_PATH);
        expect([published.status, await published.json()]).to.deep.equal([200, scheduleJson(merchant.addresses)]);
        expect(published.headers.get("content-type")).to.match(/^application\/json/);
        expect((await fetch(server.url + SCHEDULE_PATH, { method: "DELETE" })).status).to.be.oneOf([404, 405]);
        const asked = (await (await fetch(`${server.url}/paid/a`)).json()) as PaymentInstructions;
        const { shieldedAddress } = asked.payment.recipient;
        expect(shieldedAddress).to.equal(merchant.keys.ofMonth(month).shieldedAddress);
        const settled = await pay(world, { to: payeeAt(merchant, shieldedAddress), amount: 10_007n });
        expect((await fetch(`${server.url}/paid/a`, { headers: showing(headerOf(settled)) })).status).to.equal(200);
        expect(proofOf(sales[0]!).amount).to.equal(10_007n);
        const lasting = await pay(world, { to: payeeAt(merchant, merchant.lasting.shieldedAddress) });
        expect((await fetch(`${server.url}/paid/a`, { headers: showing(headerOf(lasting)) })).status).to.equal(402);
      } finally {
        await server.close();
        await paywall.close();
      }
    });
});
