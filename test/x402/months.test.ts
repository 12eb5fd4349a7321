// The published packages, with a recipient that has an address of each month.

import { signAddresses } from "@sotto/client";
import { monthAt } from "@sotto/protocol";
import { slow } from "@sotto/test-kit/slow";
import { openWallet, openWorld, payerWith, type World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { SottoScheme } from "@sotto/x402/client";
import type { SottoMonthRecipient, SottoRecipient } from "@sotto/x402/server";
import { wrapFetchWithPayment } from "@x402/fetch";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { openResourceServer, type ResourceServer, signRecipient } from "./support/resource-server.ts";
import { clientOf, failure, PRICE } from "./support/selling.ts";

describe("a payer with the published @x402/fetch and addresses of months", function () {
  slow(this, "a chain, a service and proofs");
  const account = Account.createRandom();
  let world: World;
  let merchant: Wallet;
  let payer: Wallet;
  let pay: typeof fetch;
  const servers: ResourceServer[] = [];
  before(async () => {
    world = await openWorld();
    merchant = await openWallet(world);
    payer = await payerWith(world, [PRICE, PRICE]);
    const scheme = await SottoScheme.open({ wallet: payer, services: [world.serviceUrl] });
    pay = wrapFetchWithPayment(scheme.track(fetch), clientOf(scheme));
  });
  after(async () => {
    for (const server of servers) await server.close();
  });

  /** The URL of a report that is sold for these addresses. */
  async function sell(recipient: SottoRecipient | SottoMonthRecipient): Promise<string> {
    const server = await openResourceServer(world, recipient, world.serviceUrl);
    servers.push(server);
    return `${server.origin}/report`;
  }
  const sign = (sequence: number) => signAddresses(merchant, account, { months: 2, sequence });

  it("pays that of the month, follows the newest schedule, and then no lasting address", async () => {
    const young = await sell({ addresses: await sign(2) });
    expect((await pay(young)).status).to.equal(200);
    const [entry] = await payer.payments({ decimals: 6 });
    expect(entry!.recipientAddress).to.equal(merchant.addressOfMonth(monthAt(Date.now())));
    await merchant.scan();
    expect(merchant.balance().total).to.equal(PRICE);
    const old = await sell({ addresses: await sign(1) });
    expect((await failure(pay(old))).message).to.include("sequence number 1");
    const lasting = await sell(await signRecipient(world, account, merchant.shieldedAddress));
    expect((await failure(pay(lasting))).message).to.include("does not list");
    expect(await payer.payments({ decimals: 6 })).to.have.length(1);
  });
});
