// A purchase that finds no spendable note in time reports what its notes are waiting for.

import { rejection } from "@sotto/test-kit/rejection";
import { describeWaiting, type Wallet, waitingOf } from "@sotto/wallet";
import { expect } from "chai";
import { LocalService } from "../../wallet/test/support/local-service.ts";
import { URL, World } from "../../wallet/test/support/world.ts";
import type { PurchaseOptions } from "../src/purchase/context.ts";
import { type KeyedRequest, purchase } from "../src/purchase/purchase.ts";
import { prepareNotes } from "../src/purchase/split.ts";

const PRICE = 2_000n;

describe("a purchase without a spendable note", () => {
  let world: World;
  let service: LocalService;
  let merchant: Wallet;
  beforeEach(async () => {
    world = new World();
    service = new LocalService(world);
    merchant = await world.wallet();
  });
  const buy = (payer: Wallet, key: string, options: PurchaseOptions = {}) => {
    const request: KeyedRequest = { recipient: world.recipient(merchant), price: PRICE, resourceUrl: URL, key };
    return purchase(payer, service.client, request, { chainTimeoutMs: 50, fundsTimeoutMs: 0, ...options });
  };
  const timedOut = async (action: Promise<unknown>) => {
    const error = await rejection(action);
    expect(error.code).to.equal("FUNDS_TIMED_OUT");
    return error;
  };

  it("asks for a deposit if the wallet holds too little", async () => {
    const payer = await world.funded([1_500n]);
    const error = await rejection(buy(payer, "1"));
    expect([error.code, error.message]).to.deep.equal([
      "INSUFFICIENT_FUNDS",
      "2000 base units are needed, but the wallet holds 1500 base units; deposit 500 base units more",
    ]);
  });

  it("reports missing confirmations, and that the chain mines no blocks", async () => {
    const payer = await world.wallet({ finality: 2 });
    await world.deposit(payer, [5_000n]);
    await world.append();
    const error = await timedOut(buy(payer, "1"));
    expect(error.details).to.include({ cause: "NO_BLOCKS", pending: "5000", queued: "0", held: "0" });
    expect(error.message).to.equal(
      "no note became spendable within 0 s, so nothing was paid; try again: 5000 base units wait for 2 confirmations; " +
        `the chain has mined no block meanwhile (it is at block ${payer.height}); ` +
        "a local chain that mines for each transaction needs finality 0",
    );
    expect(
      (await timedOut(prepareNotes(payer, service.client, { notes: 2, amount: PRICE }, { timeoutMs: -1 }))).details,
    ).to.include({ cause: "NO_BLOCKS", pending: "5000" });
  });

  it("reports only missing confirmations if the chain mines blocks", async () => {
    const payer = await world.wallet({ finality: 3 });
    await world.deposit(payer, [5_000n]);
    await payer.scan();
    const since = payer.height;
    world.chain.mine();
    await payer.scan();
    const waiting = waitingOf(payer, since);
    expect(waiting).to.include({ cause: "CONFIRMATIONS", pending: 5_000n });
    expect(describeWaiting(payer, waiting)).to.equal("5000 base units wait for 3 confirmations");
  });

  it("reports the append that it is waiting for", async () => {
    const payer = await world.funded([5_000n]);
    world.append = async () => 0;
    await (await buy(payer, "1")).delivered();
    const error = await timedOut(buy(payer, "2"));
    expect(error.details).to.include({ cause: "APPEND", pending: "0", queued: "3000", held: "0" });
    expect(error.message).to.match(/: 3000 base units wait for a relayer to append them to the tree$/);
  });

  it("reports the payments that hold its notes", async () => {
    const payer = await world.funded([5_000n]);
    service.before = (path) => (path === "verify" ? { valid: false, reason: "PROOF_INVALID" } : undefined);
    expect((await rejection(buy(payer, "1"))).code).to.equal("PAYMENT_INVALID");
    const error = await timedOut(buy(payer, "2"));
    expect(error.details).to.include({ cause: "HELD", pending: "0", queued: "0", held: "5000" });
    expect(error.message).to.match(/: 5000 base units are held by payments that may still settle$/);
  });
});
