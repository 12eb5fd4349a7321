// The addresses of months: which one is paid when, and what a server or a thief can do with a schedule.
import {
  addMonths,
  MAX_SCHEDULE_LENGTH,
  type Month,
  monthEnd,
  parseMonth,
  type SignedSchedule,
  scheduleJson,
} from "@sotto/protocol";
import { anyRejection, expectRejected, rejection } from "@sotto/test-kit/rejection";
import { MemoryStore } from "@sotto/wallet";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { World } from "../../wallet/test/support/world.ts";
import { followSchedule } from "../src/fetch/follow-schedule.ts";
import type { WrapOptions } from "../src/fetch/options.ts";
import { keepSchedule } from "../src/fetch/stored-schedule.ts";
import { quotePayment, wrapFetch } from "../src/fetch/wrap.ts";
import { spentOn } from "../src/purchase/limits.ts";
import { openPurchases } from "../src/purchase/open.ts";
import { keysOf, MonthMerchant, openMonthScene, seedOf, signSchedule } from "./support/month-merchant.ts";
import { ORIGIN, type Scene } from "./support/scene.ts";

const JANUARY = parseMonth("2027-01");
const [FEBRUARY, MARCH, APRIL] = [1, 2, 3].map((count) => addMonths(JANUARY, count));
const MONTHS = [JANUARY, FEBRUARY!, MARCH!];
/** Seconds. */
const END = monthEnd(JANUARY) / 1000;

describe("the address schedule of a recipient", () => {
  let scene: Scene<MonthMerchant>;
  let merchant: MonthMerchant;
  /** Milliseconds by which the payer's clock is ahead. */
  let off: number;
  beforeEach(async () => {
    off = 0;
    const world = new World();
    scene = await openMonthScene(MONTHS, { clock: () => world.clock() + off }, world);
    ({ merchant } = scene);
  });
  const pay = (options: Partial<WrapOptions> = {}) =>
    wrapFetch(merchant.fetch, scene.payer, scene.terms(options))(`${ORIGIN}/a`);
  const quote = () => quotePayment(merchant.fetch, scene.payer, scene.terms(), `${ORIGIN}/a`);
  const at = (seconds: number) => {
    scene.world.chain.time = seconds;
    scene.world.chain.mine();
    scene.world.chain.time = seconds;
  };
  const stored = () => scene.payer.store.list("schedule/");
  /** The addresses that were paid, oldest first. */
  const paid = async () =>
    (await scene.payer.payments({ decimals: 6 })).map(({ recipientAddress }) => recipientAddress);
  /** Expects that a payment is refused with this code, and that nothing was paid, proved or stored for it. */
  const expectRefused = async (code: string, act: () => Promise<unknown> = pay) => {
    const before = [await paid(), await stored(), scene.service.asked.length, scene.world.prover.asked.length];
    const error = await expectRejected(code, act);
    expect(await openPurchases(scene.payer)).to.deep.equal([]);
    expect([await paid(), await stored(), scene.service.asked.length, scene.world.prover.asked.length]).to.deep.equal(
      before,
    );
    return error;
  };

  it("is read once, without cookies or redirects, and stored before anything is paid", async () => {
    let before: unknown;
    scene.service.before = async () => {
      before ??= (await stored()).map(({ value }) => (value as { sequence: number }).sequence);
      return undefined;
    };
    await quote();
    expect(await stored(), "a quote writes nothing").to.deep.equal([]);
    await pay();
    await pay();
    expect(before).to.deep.equal([1]);
    expect(merchant.fetched).to.have.length(2);
    expect(merchant.fetched[1]).to.include({ credentials: "omit", redirect: "manual", referrerPolicy: "no-referrer" });
    expect(await paid()).to.deep.equal([merchant.addressOf(JANUARY), merchant.addressOf(JANUARY)]);
    expect(await stored()).to.have.length(1);
  });

  it("changes the address at the end of the month, without another question", async () => {
    at(END - 1);
    await pay();
    at(END);
    await pay();
    expect(await paid()).to.have.members([JANUARY, FEBRUARY!].map((month) => merchant.addressOf(month)));
    expect(merchant.fetched).to.have.length(1);
  });

  for (const [seconds, month, payable] of [
    [-601, FEBRUARY!, false],
    [-600, FEBRUARY!, true],
    [599, JANUARY, true],
    [600, JANUARY, false],
    [-1, MARCH!, false],
  ] as const)
    it(`${payable ? "allows" : "refuses"} the address of ${month} ${seconds} s after the end of January`, async () => {
      at(END + seconds);
      merchant.asked = month;
      if (payable) {
        await quote();
        await pay();
        return expect(await paid()).to.deep.equal([merchant.addressOf(month)]);
      }
      const error = await expectRefused("ADDRESS_OUTSIDE_MONTH");
      expect(error.details).to.deep.include({ host: "data.example", month, now: (END + seconds) * 1000 });
      expect(error.message).to.include(month).and.include("clock");
      return expectRefused("ADDRESS_OUTSIDE_MONTH", quote);
    });

  it("does not make a clock that is wrong by a day pay the wrong month", async () => {
    for (const [seconds, ms] of [
      [END - 43_200, 86_400_000],
      [END + 43_200, -86_400_000],
    ] as const) {
      at(seconds);
      off = ms;
      // The server's clock is wrong in the same way.
      const serverTime = async (answer: () => Promise<Response>) => {
        const response = await answer();
        const body = (await response.json()) as { metadata: { timestamp: number } };
        body.metadata.timestamp += ms;
        return Response.json(body, { status: 402, headers: response.headers });
      };
      for (const misbehave of [() => undefined, (_: unknown, answer: () => Promise<Response>) => serverTime(answer)]) {
        merchant.misbehave = misbehave;
        expect((await expectRefused("CLOCK_WRONG")).details["direction"]).to.equal(ms > 0 ? "ahead" : "behind");
      }
    }
  });

  it("with a higher sequence number replaces the known one; a lower one is refused", async () => {
    const first = merchant.follows!;
    await pay();
    merchant.follows = await merchant.sign(MONTHS.slice(0, 2), { sequence: 5 });
    await pay();
    expect(await stored()).to.have.length(1);
    for (const old of [first, await merchant.sign([...MONTHS, APRIL!], { sequence: 4 })]) {
      merchant.follows = old;
      const error = await expectRefused("SCHEDULE_LOWER");
      expect(error.details).to.deep.equal({ host: "data.example", known: 5, offered: old.schedule.sequence });
    }
    merchant.follows = await merchant.sign(MONTHS, { sequence: 6 });
    await pay();
    expect(merchant.fetched).to.have.length(5);
  });

  it("with the same sequence number must be the same: not shortened, extended or with other keys", async () => {
    await pay();
    const others = [
      await merchant.sign(MONTHS.slice(0, 1)),
      await merchant.sign([...MONTHS, APRIL!]),
      await merchant.sign(MONTHS, { issuedAt: 1_800_000_000 }),
      await merchant.sign(MONTHS, {
        keys: MONTHS.map((month) => keysOf(9).ofMonth(month).shieldedAddress.slice(0, 66)),
      }),
    ];
    for (const other of others) {
      merchant.follows = other;
      await expectRefused("SCHEDULE_CHANGED");
    }
  });

  it("once seen, forbids every address that it does not list, also if the 402 names none", async () => {
    const { follows } = merchant;
    merchant.follows = undefined;
    merchant.asked = "lasting";
    await pay();
    expect(await stored(), "a recipient without a schedule").to.deep.equal([]);
    merchant.follows = follows;
    await expectRefused("ADDRESS_NOT_LISTED");
    merchant.asked = undefined;
    await pay();
    for (const named of [follows, undefined]) {
      merchant.follows = named;
      merchant.asked = "lasting";
      await expectRefused("ADDRESS_NOT_LISTED");
      merchant.asked = undefined;
      await pay({ pinHosts: false });
    }
    merchant.follows = await merchant.sign(MONTHS.slice(1), { sequence: 2 });
    await expectRefused("ADDRESS_NOT_LISTED");
    expect((await paid()).filter((address) => address === merchant.addressOf("lasting"))).to.have.length(1);
  });

  it("is followed at another host of the recipient too", async () => {
    await pay();
    const elsewhere = {
      wallet: merchant.account.address.toLowerCase(),
      shieldedAddress: merchant.addressOf("lasting"),
    };
    const source = { origin: "https://other.example", fetch: merchant.fetch };
    await expectRejected("ADDRESS_NOT_LISTED", () => followSchedule(scene.payer, elsewhere, source));
  });

  it("must be the one that the 402 names, for this recipient, chain and pool, and signed by its wallet", async () => {
    const thief = Account.createRandom();
    const right = merchant.follows!;
    const forged = async (changes: object, signer: Account | typeof thief = merchant.account as never) =>
      signSchedule(merchant.keys, signer as never, MONTHS, changes);
    const wallet = merchant.account.address.toLowerCase();
    const cases: [field: string, followed: SignedSchedule, published?: () => Response][] = [
      ["digest", right, () => Response.json(scheduleJson({ ...right, schedule: { ...right.schedule, sequence: 2 } }))],
      ["wallet", await forged({}, thief)],
      ["ownerTag", await forged({ ownerTag: 8n })],
      ["chainId", await forged({ chainId: 1n })],
      ["pool", await forged({ pool: `0x${"12".repeat(20)}` })],
      ["signature", await forged({ wallet }, thief)],
      ["signature", { ...right, signature: `0x${"11".repeat(65)}` }],
      ["signature", await forged({ issuedAt: 1_800_000_000 - 401 * 86_400 })],
      ["signature", await forged({ issuedAt: 1_800_086_400 })],
      ["format", right, () => new Response("<html>not found</html>")],
      ["format", right, () => Response.json(null)],
      ["format", right, () => Response.json({ ...scheduleJson(right), keys: [] })],
      ["format", right, () => new Response(JSON.stringify(scheduleJson(right)).slice(0, -9))],
    ];
    for (const [field, followed, publish = () => Response.json(scheduleJson(followed))] of cases) {
      merchant.follows = followed;
      merchant.publish = publish;
      expect((await expectRefused("SCHEDULE_MISMATCH")).details, field).to.deep.equal({ host: "data.example", field });
    }
    await expectRefused("SCHEDULE_MISMATCH", quote);
  });

  it("must be read within limits of size and time, and from the server's own origin", async () => {
    const endless = () =>
      new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(4096).fill(32)) }));
    const json = JSON.stringify(scheduleJson(merchant.follows!));
    const answers: (() => Response)[] = [
      () => new Response(null, { status: 404 }),
      () => new Response(json, { status: 500 }),
      () => new Response(null, { status: 302, headers: { location: "https://evil.example/schedule" } }),
      endless,
      () => new Response(json.padEnd(MAX_SCHEDULE_LENGTH + 1)),
      () => {
        throw new TypeError("fetch failed");
      },
    ];
    for (const answer of answers) {
      merchant.publish = answer;
      await expectRefused("SCHEDULE_UNAVAILABLE");
    }
    merchant.publish = () => new Response(json.padEnd(MAX_SCHEDULE_LENGTH));
    await pay();
  });

  it("is not awaited forever, nor beyond the caller's signal", async () => {
    merchant.publish = ({ signal }) =>
      new Promise((_, reject) => signal!.addEventListener("abort", () => reject(signal!.reason as Error)));
    const { schedule } = await merchant.fetch(`${ORIGIN}/a`).then(async (response) => {
      const { payment } = (await response.json()) as { payment: { schedule: { path: string; digest: string } } };
      return payment;
    });
    const asked = {
      wallet: merchant.account.address.toLowerCase(),
      shieldedAddress: merchant.addressOf(JANUARY),
      schedule,
    };
    const source = { origin: ORIGIN, fetch: merchant.fetch, timeoutMs: 20 };
    await expectRejected("SCHEDULE_UNAVAILABLE", () => followSchedule(scene.payer, asked, source));
    const abort = new AbortController();
    const waiting = wrapFetch(merchant.fetch, scene.payer, scene.terms())(`${ORIGIN}/a`, { signal: abort.signal });
    abort.abort(new Error("the caller stopped"));
    expect((await anyRejection(waiting)).message).to.equal("the caller stopped");
  });

  it("of two servers behind one address: the newest is followed, and an answer of the other one is refused", async () => {
    const old = merchant.follows!;
    const young = await merchant.sign(MONTHS, { sequence: 2 });
    merchant.follows = young;
    merchant.publish = () => Response.json(scheduleJson(old));
    expect((await expectRefused("SCHEDULE_MISMATCH")).details["field"]).to.equal("digest");
    merchant.publish = () => Response.json(scheduleJson(young));
    await pay();
    merchant.follows = old;
    merchant.publish = () => Response.json(scheduleJson(old));
    await expectRefused("SCHEDULE_LOWER");
    merchant.publish = () => Response.json(scheduleJson(young));
    await expectRefused("SCHEDULE_MISMATCH");
    merchant.follows = young;
    await pay();
  });

  it("is stored in order if two payments read different ones at the same time", async () => {
    const { store } = scene.payer;
    const [one, two, three] = await Promise.all([1, 2, 3].map((sequence) => merchant.sign(MONTHS, { sequence })));
    const outcomes = await Promise.allSettled(
      [one!, three!, two!, three!].map((each) => keepSchedule(store, each, "a")),
    );
    expect((await stored())[0]!.value).to.include({ sequence: 3 });
    expect(outcomes[1]!.status).to.equal("fulfilled");
    await expectRejected("SCHEDULE_LOWER", () => keepSchedule(store, two!, "a"));
    const twin = await merchant.sign(MONTHS.slice(1), { sequence: 3 });
    await expectRejected("SCHEDULE_CHANGED", () => keepSchedule(store, twin, "a"));
  });

  it("that is stored and unreadable allows no address", async () => {
    await pay();
    const [record] = await stored();
    for (const changes of [{ keys: 5 }, { keys: [5] }, { digest: 5 }, { sequence: "1" }, { firstMonth: "2027" }]) {
      await scene.payer.store.put(record!.key, { ...(record!.value as object), ...changes } as never);
      await expectRefused("STORE_DAMAGED");
    }
  });

  describe("and a thief of the account's key", () => {
    const payThief = (thief: MonthMerchant) => wrapFetch(thief.fetch, scene.payer, scene.terms())(`${ORIGIN}/a`);
    /** The server in the hands of a thief, who signs a new schedule of keys of its own. */
    const steal = async (ownerTag: bigint) => {
      const { account } = merchant;
      const thief = await MonthMerchant.open(scene.world, MONTHS, { keys: keysOf(9), account, ownerTag });
      thief.follows = await thief.sign(MONTHS, { sequence: 9, ownerTag });
      return thief;
    };

    it("who diverts payments to another tag is refused, and changes no record", async () => {
      await pay();
      const thief = await steal(keysOf(9).ownerTag(0));
      await expectRefused("RECIPIENT_CHANGED", () => payThief(thief));
      await pay();
    });

    it("who keeps the tag can disturb payments, but take none", async () => {
      await pay();
      const thief = await steal(merchant.keys.ownerTag(0));
      await payThief(thief);
      expect(await paid()).to.have.members(
        [JANUARY].flatMap((month) => [merchant, thief].map((each) => each.addressOf(month))),
      );
      const purse = await scene.world.wallet({ seed: seedOf(9) });
      await purse.scan();
      expect(purse.balance().total).to.equal(0n);
      await expectRefused("SCHEDULE_LOWER");
    });
  });
});

describe("a purchase that lasts beyond the month of its address", () => {
  const AWAY = () => {
    throw new TypeError("fetch failed");
  };
  let scene: Scene<MonthMerchant>;
  let merchant: MonthMerchant;
  beforeEach(async () => {
    scene = await openMonthScene(MONTHS, { store: new MemoryStore() });
    ({ merchant } = scene);
    // Nine minutes of the grace have passed, and the server has not changed its address yet. A proof of now is valid for 180 s.
    at(540);
    merchant.asked = JANUARY;
  });
  /** Advances the time to some seconds after the end of January. */
  const at = (seconds: number) => {
    const { chain } = scene.world;
    chain.time = END + seconds - 12;
    chain.mine();
    expect(chain.time).to.equal(END + seconds);
  };
  const pay = () => wrapFetch(merchant.fetch, scene.payer, scene.terms({ maxPerDay: 10n }))(`${ORIGIN}/a`);
  /** Ends the purchase before the service answers this path. */
  const interrupt = async (path: string) => {
    scene.service.before = (asked) => (asked === path ? AWAY() : undefined);
    await rejection(pay());
    scene.service.before = () => undefined;
    merchant.asked = undefined;
    expect(await openPurchases(scene.payer)).to.have.length(1);
  };
  /** Expects that the request was paid once, at the address of this month, and counts once. */
  const expectPaid = async (month: Month) => {
    expect(await scene.paid()).to.equal(10n);
    const entries = await scene.payer.payments({ decimals: 6 });
    const settled = entries.filter(({ state }) => state === "settled");
    expect(settled.map(({ recipientAddress }) => recipientAddress)).to.deep.equal([merchant.addressOf(month)]);
    const begun = entries.filter(({ recipientAddress }) => recipientAddress === merchant.addressOf(JANUARY));
    expect(begun, "no other payment to the address of January").to.have.length(1);
    expect(merchant.served).to.have.length(1);
    expect(await spentOn(scene.payer.store, scene.payer.now())).to.equal(10n);
    expect(await openPurchases(scene.payer)).to.deep.equal([]);
  };

  for (const [path, seconds] of [
    ["verify", 660],
    ["settle", 660],
    ["settle", 700],
  ] as const)
    it(`uses the proof of January ${seconds} s after its end, because it is valid, if it stopped at ${path}`, async () => {
      await interrupt(path);
      at(seconds);
      await pay();
      await expectPaid(JANUARY);
    });

  it("makes no other proof for the old address, and waits until the first can no longer settle", async () => {
    await interrupt("verify");
    const proofs = scene.world.prover.asked.length;
    for (const seconds of [690, 710]) {
      at(seconds);
      expect((await rejection(pay())).code).to.equal("SETTLEMENT_UNKNOWN");
    }
    expect(scene.world.prover.asked).to.have.length(proofs);
    expect(await spentOn(scene.payer.store, scene.payer.now()), "its price stays reserved").to.equal(10n);
    at(760);
    await pay();
    await expectPaid(FEBRUARY!);
  });

  for (const path of ["verify", "settle"])
    it(`is paid at the new address once its proof is void, if it stopped at ${path}`, async () => {
      await interrupt(path);
      at(760);
      await pay();
      await expectPaid(FEBRUARY!);
    });
});
