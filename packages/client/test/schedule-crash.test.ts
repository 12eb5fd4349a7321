// A process that dies in any state of a purchase, shortly before its address ends, and the same request after that.
import { addMonths, monthEnd, parseMonth } from "@sotto/protocol";
import { MemoryStore, type Store, type Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { SEED } from "../../wallet/test/support/merchant.ts";
import { dyingStore, watchedStore } from "../../wallet/test/support/world.ts";
import { wrapFetch } from "../src/fetch/wrap.ts";
import { spentOn } from "../src/purchase/limits.ts";
import { openPurchases } from "../src/purchase/open.ts";
import { type OpenStateName, PURCHASE_STATES } from "../src/purchase/states.ts";
import { type MonthMerchant, openMonthScene } from "./support/month-merchant.ts";
import { ORIGIN, type Scene } from "./support/scene.ts";

const JANUARY = parseMonth("2027-01");
const FEBRUARY = addMonths(JANUARY, 1);
/** Seconds. */
const END = monthEnd(JANUARY) / 1000;
const STATES = Object.entries(PURCHASE_STATES)
  .filter(([name, { shown }]) => shown !== null && name !== "stopped")
  .map(([name]) => name as OpenStateName);

describe("a request that is repeated in the next month", () => {
  let scene: Scene<MonthMerchant>;
  let merchant: MonthMerchant;
  let store: Store;
  beforeEach(async () => {
    store = new MemoryStore();
    scene = await openMonthScene([JANUARY, FEBRUARY], { store });
    ({ merchant } = scene);
  });
  const at = (seconds: number) => {
    const { chain } = scene.world;
    chain.time = END + seconds - 12;
    chain.mine();
  };
  const pay = (wallet: Wallet) =>
    wrapFetch(merchant.fetch, wallet, scene.terms({ maxPerDay: 10n }))(`${ORIGIN}/a`, { sotto: { key: "order 1" } });

  /** Pays in a process that dies in a state, with the server still at the address of January. */
  async function dieIn(state: OpenStateName) {
    at(540);
    merchant.asked = JANUARY;
    let dead = false;
    let payer: Wallet | undefined;
    const look = async () => {
      dead ||= payer !== undefined && (await openPurchases(payer))[0]?.step === state;
      if (dead) throw new Error("the process died");
    };
    scene.service.before = async () => {
      await look();
      return undefined;
    };
    merchant.misbehave = async ({ headers }) => {
      if (headers.has("x-payment-proof")) await look();
      return undefined;
    };
    payer = await scene.world.wallet({ seed: SEED, store: watchedStore(store, look) });
    await pay(payer).catch(() => undefined);
    expect(dead, state).to.equal(true);
    scene.service.before = () => undefined;
    merchant.misbehave = () => undefined;
    merchant.asked = undefined;
    return scene.world.wallet({ seed: SEED, store });
  }
  const settledAddresses = async (payer: Wallet) => {
    await payer.scan();
    const entries = await payer.payments({ decimals: 6 });
    return entries.filter(({ state }) => state === "settled").map(({ recipientAddress }) => recipientAddress);
  };

  it("is paid once and counts once, if the process died before or after any write to its store", async () => {
    /** The payment in a process whose store dies at a write. */
    const live = async (own: Store) => {
      at(540);
      merchant.asked = JANUARY;
      const payer = await scene.world.wallet({ seed: SEED, store: own });
      return pay(payer);
    };
    let writes = 0;
    const count = () => {
      writes += 1;
    };
    await live(watchedStore(store, count));
    expect(writes).to.be.greaterThan(8);
    for (let n = 0; n < 2 * writes; n += 1) {
      const title = `${n < writes ? "before" : "after"} write ${n % writes} of ${writes}`;
      store = new MemoryStore();
      scene = await openMonthScene([JANUARY, FEBRUARY], { store });
      ({ merchant } = scene);
      const death = await live(dyingStore(store, n % writes, n >= writes)).catch((error: Error) => error.message);
      expect(death, title).to.equal("the process died");
      merchant.asked = undefined;
      at(760);
      const payer = await scene.world.wallet({ seed: SEED, store });
      const outcome = await pay(payer).then(
        ({ status }) => status,
        (error: { code: string }) => error.code,
      );
      expect(outcome, title).to.be.oneOf([200, "PURCHASE_FINISHED"]);
      expect(merchant.served, title).to.not.deep.equal([]);
      expect(await settledAddresses(payer), title).to.have.length(1);
      expect(await spentOn(store, payer.now()), title).to.equal(10n);
      await payer.close();
    }
  });

  for (const state of STATES)
    it(`is paid once and counts once, if the process died in the state ${state}`, async () => {
      const payer = await dieIn(state);
      at(760);
      expect((await pay(payer)).status).to.equal(200);
      const month = PURCHASE_STATES[state].shown === "paid" ? JANUARY : FEBRUARY;
      expect(await settledAddresses(payer)).to.deep.equal([merchant.addressOf(month)]);
      expect(await spentOn(store, payer.now())).to.equal(10n);
      await payer.close();
    });
});
