// Payments without a 402, as made by the CLI: no server waits for a proof.

import { createDirectPayment, type DirectPaymentRecord, payDirectly } from "@sotto/cli-kit";
import { openPurchases } from "@sotto/client";
import { slow } from "@sotto/test-kit/slow";
import { openWallet, openWorld, payerWith, type World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { expect } from "chai";

const AMOUNT = 20_000n;
const HOUR_MS = 3_600_000;

describe("a direct payment", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let wallet: Wallet;
  let recipient: Wallet;
  let later = 0;
  before(async () => {
    world = await openWorld();
    wallet = await payerWith(world, [100_000n, 100_000n], { clock: () => Date.now() + later });
    recipient = await openWallet(world);
  });

  /** @param dieAt stage at which the process dies */
  const pay = (record: DirectPaymentRecord, dieAt?: RegExp) => {
    const progress = (line: string) => {
      if (dieAt?.test(line)) throw new Error("killed");
    };
    const context = { output: { progress }, args: { flag: () => false }, signal: new AbortController().signal };
    return payDirectly({ context, config: { service: world.serviceUrl }, wallet } as never, record);
  };

  it("completes when it is resumed at any later time after an interruption", async () => {
    const { shieldedAddress } = recipient;
    const record = createDirectPayment({ shieldedAddress, amount: AMOUNT, resourceUrl: "urn:sotto:send:1" });
    const error = await pay(record, /^paid$/).catch((cause: Error) => cause.message);
    expect(error).to.equal("killed");
    later = HOUR_MS;
    const done = await pay(record);
    expect(done.transaction).to.match(/^0x[0-9a-f]{64}$/);
    expect([await pay(record), await openPurchases(wallet)]).to.deep.equal([done, []]);
    await recipient.scan();
    expect(recipient.balance().total).to.equal(AMOUNT);
  });
});
