// A store in each state of the table, in the format that it has had since the table was only code: every purchase in it
// is resumed, and only takes the ways that the table names.
import { rejection } from "@sotto/test-kit/rejection";
import { MemoryStore, type Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { LocalService } from "../../wallet/test/support/local-service.ts";
import { SEED, start } from "../../wallet/test/support/merchant.ts";
import { watchedStore } from "../../wallet/test/support/world.ts";
import { openPurchases } from "../src/purchase/open.ts";
import { type KeyedRequest, purchase } from "../src/purchase/purchase.ts";
import type { PurchaseRecord } from "../src/purchase/record.ts";
import { type OpenStateName, PURCHASE_STATES, type PurchaseStateName } from "../src/purchase/states.ts";

const states = Object.entries(PURCHASE_STATES);
const openStates = states.filter(([, { shown }]) => shown !== null).map(([name]) => name as OpenStateName);

describe("the states of a purchase", () => {
  /** Makes a purchase in a process that dies in a state; without one, the server's answer completes it. */
  async function live(dieIn: PurchaseStateName | undefined, isRefused = false) {
    const disk = new MemoryStore();
    const { world, payer: owner, merchant, request } = await start([5_000n], { store: disk });
    const entered: PurchaseStateName[] = [];
    let dead = false;
    let payer: Wallet | undefined;
    const look = async () => {
      const step = payer === undefined ? undefined : (await openPurchases(payer))[0]?.step;
      if (step !== undefined && entered.at(-1) !== step) entered.push(step);
      dead ||= step !== undefined && step === dieIn;
      if (dead) throw new Error("the process died");
    };
    const service = new LocalService(world);
    service.before = async () => {
      await look();
      return undefined;
    };
    payer = await world.wallet({ seed: SEED, store: watchedStore(disk, look) });
    const { recipient, resourceUrl, amount } = request;
    const order: KeyedRequest = {
      recipient,
      resourceUrl,
      price: amount,
      key: "order 1",
      limits: {},
      host: "a.example",
    };
    const buy = async () => {
      const paid = await purchase(payer!, service.client, order);
      await paid.showing();
      await (isRefused ? paid.refused({ status: 403, reason: "no" }) : paid.delivered());
      await look();
    };
    const error = await buy().catch((found: Error) => found);
    expect(dead).to.equal(dieIn !== undefined);
    if (!dead) expect(error).to.equal(undefined);
    service.before = () => undefined;
    return { disk, world, merchant, service, order, entered, owner };
  }

  it("follow each other as the table says", async () => {
    for (const isRefused of [false, true]) {
      const { entered } = await live(undefined, isRefused);
      const end = isRefused ? "stopped" : "shown";
      expect(entered).to.deep.equal(openStates.filter((name) => name !== "stopped" || isRefused));
      expect(entered.at(-1)).to.equal(end);
      for (const [index, name] of entered.slice(1).entries())
        expect(PURCHASE_STATES[entered[index]!].next, name).to.include(name);
    }
  });

  it("have a way from the first to every other, and from every other to an end", () => {
    const next = (name: PurchaseStateName): readonly PurchaseStateName[] => PURCHASE_STATES[name].next;
    const reach = (from: PurchaseStateName) => {
      const found = new Set([from]);
      for (const name of found) for (const following of next(name)) found.add(following);
      return found;
    };
    expect([...reach("begun")]).to.have.members(Object.keys(PURCHASE_STATES));
    for (const [name, { shown }] of states) {
      expect([...reach(name as PurchaseStateName)].some((each) => PURCHASE_STATES[each].shown === null)).to.equal(true);
      expect(next(name as PurchaseStateName).length === 0, name).to.equal(shown === null);
    }
  });

  for (const state of openStates)
    it(`resume from a store in the state ${state}, and pay once`, async () => {
      const { disk, world, merchant, service, order } = await live(state, state === "stopped");
      const [stored, ...others] = await disk.list("purchase/");
      const record = stored!.value as unknown as PurchaseRecord;
      expect([stored!.key, others]).to.deep.equal([`purchase/${record.id}`, []]);
      const { id, created, sent, settled, problem } = record;
      const at = openStates.indexOf(state);
      const from = (first: OpenStateName) => at >= openStates.indexOf(first);
      expect(record).to.deep.equal({
        recipient: order.recipient,
        price: "1000",
        resourceUrl: order.resourceUrl,
        service: "https://pay.example/zk",
        id,
        request: id,
        created,
        reserved: { hour: new Date(created).toISOString().slice(0, 13), host: "a.example", tool: null },
        payments: [id],
        sent: from("sent")
          ? [{ payment: id, digest: sent[0]!.digest, bundle: sent[0]!.bundle, token: sent[0]!.token }]
          : [],
        settled: from("paid") ? { digest: sent[0]!.digest, txSignature: settled!.txSignature } : null,
        headerLimit: 8192,
        shown: from("shown") ? 1 : 0,
        problem: from("stopped")
          ? { code: "PAID_BUT_REFUSED", message: problem!.message, reason: "no", status: 403 }
          : null,
      });
      expect((sent[0]?.token ?? "") !== "").to.equal(from("verified"));
      const payer = await world.wallet({ seed: SEED, store: disk });
      await payer.scan();
      expect((await openPurchases(payer))[0]).to.include({ step: state, state: PURCHASE_STATES[state].shown });
      const again = () => purchase(payer, service.client, order);
      if (state === "stopped") expect((await rejection(again())).code).to.equal("PAID_BUT_REFUSED");
      else await (await again()).delivered();
      await merchant.scan();
      expect(merchant.balance().total).to.equal(1_000n);
      expect(payer.history().map((payment) => payment.state)).to.deep.equal(["settled"]);
    });
});
