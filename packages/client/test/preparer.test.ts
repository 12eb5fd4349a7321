import { setTimeout } from "node:timers/promises";
import { addMonths, monthEnd, parseMonth } from "@sotto/protocol";
import { rejection } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { World } from "../../wallet/test/support/world.ts";
import { Preparer } from "../src/fetch/preparer.ts";
import { wrapFetch } from "../src/fetch/wrap.ts";
import type { PayingAttachment } from "../src/purchase/attachment.ts";
import { openMonthScene } from "./support/month-merchant.ts";
import { ORIGIN, openScene } from "./support/scene.ts";

const SLOT = 120;
const HOST = "data.example";

/** Mines a block after the next slot began. */
function nextSlot({ chain }: World): void {
  chain.time += SLOT - (chain.time % SLOT);
  chain.mine();
}

/** Waits for something that happens in the background; the test times out if it does not. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await setTimeout(2);
}

describe("the option prepare of wrapFetch", () => {
  it("makes later payments to a host without another proof", async () => {
    const place = await openScene();
    const { world } = place;
    nextSlot(world);
    const pay = wrapFetch(place.merchant.fetch, place.payer, place.terms({ prepare: true }));
    const complete = () => world.prover.asked.filter((circuit) => circuit === "payment").length;
    expect((await pay(`${ORIGIN}/first`)).status).to.equal(200);
    expect(complete()).to.equal(1);
    await until(() => world.prover.prepared === 1);
    expect((await pay(`${ORIGIN}/second`)).status).to.equal(200);
    expect(world.prover.finished).to.equal(1);
    expect(complete()).to.equal(1);
    await until(() => world.prover.prepared === 2);
    expect(await place.paid()).to.equal(20n);
    await place.payer.close();
  });

  it("discards what it prepared for the address of a month at the month's end, and pays the next address", async () => {
    const january = parseMonth("2027-01");
    const place = await openMonthScene([january, addMonths(january, 1)]);
    const { world, merchant } = place;
    // The last slot of January ends with the month.
    world.chain.time = monthEnd(january) / 1000 - 100;
    world.chain.mine();
    const pay = wrapFetch(merchant.fetch, place.payer, place.terms({ prepare: true }));
    await pay(`${ORIGIN}/first`);
    await until(() => world.prover.prepared === 1);
    world.chain.time = monthEnd(january) / 1000;
    world.chain.mine();
    await pay(`${ORIGIN}/second`);
    expect([world.prover.finished, world.prover.discarded]).to.deep.equal([0, 1]);
    const entries = await place.payer.payments({ decimals: 6 });
    expect(entries.map(({ recipientAddress }) => recipientAddress)).to.have.members(
      [january, addMonths(january, 1)].map((month) => merchant.addressOf(month)),
    );
    await place.payer.close();
  });

  it("prepares nothing by default", async () => {
    const place = await openScene();
    nextSlot(place.world);
    const pay = wrapFetch(place.merchant.fetch, place.payer, place.terms());
    await pay(`${ORIGIN}/first`);
    await setTimeout(50);
    expect(place.world.prover.asked).to.not.include("prepare payment");
  });

  it("must be a boolean", async () => {
    const place = await openScene();
    const options = { ...place.terms(), prepare: "yes" } as never;
    const wrap = async () => wrapFetch(fetch, place.payer, options);
    expect((await rejection(wrap())).code).to.equal("FETCH_OPTION_INVALID");
  });
});

describe("preparing for a host that asks for something beside payments", () => {
  it("prepares payments from the notes that may pay, and what they show", async () => {
    const place = await openScene();
    const { world, payer, merchant } = place;
    const shown: (string | null)[] = [];
    merchant.misbehave = async ({ headers }, answer) => {
      if (headers.has("x-payment-proof")) shown.push(headers.get("x-payment-memo"));
      const response = await answer();
      if (response.status !== 402) return response;
      const body = (await response.json()) as { payment: object };
      return Response.json({ ...body, payment: { ...body.payment, memo: {} } }, response);
    };
    const [largest] = payer.notes().sort((a, b) => (a.amount < b.amount ? 1 : -1));
    const ready: number[] = [];
    const memo: PayingAttachment = {
      ...{ name: "memo", header: "X-Payment-Memo" },
      choose: () => ({ only: ({ amount }) => amount >= largest!.amount - 10n }),
      async show(_asked, { note }) {
        return ready.includes(note.leafIndex) ? "ready" : undefined;
      },
      prepare: async (asked, { leafIndex }) => {
        expect(asked).to.deep.equal({});
        ready.push(leafIndex);
      },
    };
    nextSlot(world);
    const pay = wrapFetch(merchant.fetch, payer, place.terms({ prepare: true, attachments: [memo] }));
    await payer.scan();
    expect((await pay(`${ORIGIN}/first`)).status).to.equal(200);
    await world.append();
    nextSlot(world);
    nextSlot(world);
    await payer.scan();
    await until(() => ready.length === 1);
    expect(world.prover.prepared).to.equal(1);
    expect((await pay(`${ORIGIN}/second`)).status).to.equal(200);
    expect(world.prover.finished).to.equal(1);
    expect(shown).to.deep.equal([null, "ready"]);
    await payer.close();
  });
});

describe("preparing for hosts", () => {
  async function open(amounts = [5_000n, 6_000n]) {
    const world = new World();
    const recipient = world.recipient(await world.wallet());
    const payer = await world.funded(amounts);
    const terms = { recipient, amount: 1_000n, service: "https://pay.example/zk" };
    const count = () => world.prover.prepared;
    return { world, payer, terms, count, preparer: new Preparer(payer, 1) };
  }

  it("waits for notes that are old enough, and prepares again after a slot", async () => {
    const { world, payer, terms, count, preparer } = await open();
    preparer.paid(HOST, terms);
    await setTimeout(30);
    expect(count()).to.equal(0);
    nextSlot(world);
    await until(() => count() === 1);
    await setTimeout(30);
    expect(count()).to.equal(1);
    nextSlot(world);
    nextSlot(world);
    nextSlot(world);
    await until(() => count() === 2);
    await until(() => world.prover.discarded === 1);
    await payer.close();
  });

  for (const [what, change] of [
    ["price", { amount: 1_001n }],
    ["service", { service: "https://other.example" }],
    ["recipient", { wallet: `0x${"ac".repeat(20)}` }],
  ] as const)
    it(`discards what it prepared if the host asks for another ${what}`, async () => {
      const { world, payer, terms, count, preparer } = await open();
      nextSlot(world);
      preparer.paid(HOST, terms);
      await until(() => count() === 1);
      preparer.asked(HOST, terms);
      expect(world.prover.discarded).to.equal(0);
      const { wallet = terms.recipient.wallet, ...rest } = { wallet: undefined, ...change };
      preparer.asked(HOST, { ...terms, ...rest, recipient: { ...terms.recipient, wallet } });
      expect(world.prover.discarded).to.equal(1);
      await payer.close();
    });

  it("stops at the end of the month whose address was paid", async () => {
    const { world, payer, terms, count, preparer } = await open();
    nextSlot(world);
    const before = world.clock() + 90_000;
    preparer.paid(HOST, { ...terms, before });
    await until(() => count() === 1);
    world.chain.time += 89;
    await setTimeout(30);
    expect(world.prover.discarded).to.equal(0);
    world.chain.time += 1;
    await until(() => world.prover.discarded === 1);
    await setTimeout(30);
    expect(count()).to.equal(1);
    await payer.close();
  });

  it("stops 15 minutes after the last payment", async () => {
    const { world, payer, terms, count, preparer } = await open();
    nextSlot(world);
    preparer.paid(HOST, terms);
    await until(() => count() === 1);
    world.chain.time += 901;
    nextSlot(world);
    await until(() => world.prover.discarded === 1);
    await setTimeout(30);
    expect(count()).to.equal(1);
    await payer.close();
  });

  it("prepares for the four hosts that were paid last", async () => {
    const { world, payer, terms, count, preparer } = await open([2_000n, 2_001n, 2_002n, 2_003n, 2_004n, 2_005n]);
    nextSlot(world);
    for (const n of [1n, 2n, 3n, 4n, 5n]) preparer.paid(`${n}.example`, { ...terms, amount: 1_000n + n });
    await until(() => count() === 4);
    await setTimeout(30);
    expect(count()).to.equal(4);
    expect(world.prover.discarded).to.equal(0);
    const { finished } = world.prover;
    const resourceUrl = "https://5.example/";
    for (const n of [5n, 4n, 3n, 2n]) await payer.pay({ ...terms, amount: 1_000n + n, resourceUrl });
    expect(world.prover.finished - finished).to.equal(4);
    await payer.close();
  });

  it("replaces a prepared payment whose note is no longer chosen", async () => {
    const { world, payer, terms, count, preparer } = await open();
    nextSlot(world);
    const ready: number[] = [];
    const [small, large] = payer.notes().sort((a, b) => (a.amount < b.amount ? -1 : 1));
    let preferred = small!.leafIndex;
    const choose = async () => ({ prefer: ({ leafIndex }: { leafIndex: number }) => leafIndex === preferred });
    const attached = { choose, prepare: async ({ leafIndex }: { leafIndex: number }) => void ready.push(leafIndex) };
    preparer.paid(HOST, terms, attached);
    await until(() => ready.length > 2);
    expect([count(), world.prover.discarded]).to.deep.equal([1, 0]);
    preferred = large!.leafIndex;
    await until(() => ready.at(-1) === preferred);
    expect([count(), world.prover.discarded]).to.deep.equal([2, 1]);
    expect(new Set(ready)).to.deep.equal(new Set([small!.leafIndex, large!.leafIndex]));
    await payer.close();
  });

  it("prepares at once for a host whose payment settles while it prepares for another one", async () => {
    const { world, payer, terms, count } = await open();
    const preparer = new Preparer(payer, 3_600_000);
    nextSlot(world);
    world.prover.before = async () => {
      world.prover.before = () => undefined;
      const choose = async () => ({});
      preparer.paid(
        "other.example",
        { ...terms, amount: 1_001n },
        { choose, prepare: () => Promise.reject(new Error()) },
      );
    };
    preparer.paid(HOST, terms);
    await until(() => count() === 2);
    // What attachments cannot make ready ends nothing, and an unhandled rejection would end the tests.
    await setTimeout(30);
    await payer.close();
  });

  it("ends with the wallet", async () => {
    const { world, payer, terms, count, preparer } = await open();
    nextSlot(world);
    await payer.close();
    preparer.paid(HOST, terms);
    await setTimeout(30);
    expect(count()).to.equal(0);
  });
});
