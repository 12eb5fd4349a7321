// What the client of metered routes checks, one row of docs/metered.md after the other, against merchants that break it.
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { SEED } from "../../../wallet/test/support/merchant.ts";
import { type PrepaidBook, prepaidBookOf } from "../../src/client/book.ts";
import { restorePrepaid } from "../../src/client/buy.ts";
import { checkCharges, keptReceipts, keptTerms } from "../../src/client/check-charges.ts";
import { dropPrepaid } from "../../src/client/list.ts";
import { mergePrepaid } from "../../src/client/merge.ts";
import { openPrepaid } from "../../src/client/open.ts";
import {
  type ChangeAnswer,
  decodeSignedSchedule,
  encodeSignedSchedule,
  formatChangeAnswer,
  formatSwapAnswer,
  PREPAID_CHANGE_PATH,
  PREPAID_HEADER,
  PREPAID_KEYS_PATH,
  PREPAID_SWAP_PATH,
  PREPAID_TERMS_PATH,
  parseChangeAnswer,
  parseSwapAnswer,
  signReceipt,
} from "../../src/index.ts";
import { signedSchedule } from "./support/merchant.ts";
import { MeteredWorld } from "./support/metered-merchant.ts";
import { ORIGIN } from "./support/world.ts";

type Wrapping = Parameters<MeteredWorld["wrap"]>;

describe("a merchant with metered routes", function () {
  slow(this, "private payments for packs, blinded and signed");
  let scene: MeteredWorld;
  let book: PrepaidBook;
  beforeEach(async () => {
    scene = await MeteredWorld.open({ seed: SEED });
    book = await prepaidBookOf(scene.payer.store);
  });

  const settings = (changes: Wrapping[0] = {}): Wrapping[0] => ({ buy: true, maxDelayMs: 1e9, ...changes });
  const paying = (changes: Wrapping[0] = {}, terms: Wrapping[1] = {}) => scene.wrap(settings(changes), terms);
  const opened = () => openPrepaid(scene.merchant.fetch, scene.payer, scene.options(settings()));
  const merge = () => mergePrepaid(scene.merchant.fetch, scene.payer, scene.options(settings()));
  const until = async (holds: () => boolean) => {
    for (let i = 0; !holds() && i < 1500; i += 1) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(holds()).to.equal(true);
  };
  const ended = () => until(() => book.metered.requests().length === 0);
  const stopped = () => until(() => book.origin(ORIGIN).stopped !== null);
  /** Nothing left the wallet, and no token was shown. */
  const assertUnpaid = async () => {
    expect(await scene.paid()).to.equal(0n);
    expect(scene.merchant.seen.some(({ headers }) => headers.has(PREPAID_HEADER))).to.equal(false);
  };

  describe("is not paid", () => {
    it("if its terms are for another chain or pool", async () => {
      for (const change of [{ chainId: 1n }, { pool: `0x${"11".repeat(20)}` as const }]) {
        scene.merchant.terms = [await scene.merchant.signTerms(change)];
        await expectRejected("PREPAID_TERMS_REFUSED", () => paying()(`${ORIGIN}/a`));
        expect(book.metered.allTerms()).to.deep.equal([]);
      }
      await assertUnpaid();
      scene.merchant.terms = [await scene.merchant.signTerms()];
      await (await paying()(`${ORIGIN}/a`)).text();
    });

    it("if its cap is above the limit of a request, an hour, a day or the host", async () => {
      for (const [limits, code] of [
        [{ maxPerRequest: 9n }, "REQUEST_LIMIT_EXCEEDED"],
        [{ maxPerHour: 9n }, "HOUR_LIMIT_EXCEEDED"],
        [{ maxPerDay: 9n }, "DAY_LIMIT_EXCEEDED"],
        [{ maxPerHost: 9n }, "HOST_LIMIT_EXCEEDED"],
      ] as const)
        await expectRejected(code, () => paying({}, limits)(`${ORIGIN}/a`));
      await assertUnpaid();
    });

    it("if what it holds and owes would exceed the limit for its host", async () => {
      scene.merchant.misbehave = ({ target }) =>
        target === PREPAID_CHANGE_PATH ? Response.json({ code: "METERED_RUNNING" }, { status: 409 }) : undefined;
      const pay = paying({ maxPerHost: 25n });
      for (const path of ["/a", "/b"]) await (await pay(ORIGIN + path)).text();
      await expectRejected("PREPAID_LIMIT_EXCEEDED", () => pay(`${ORIGIN}/c`));
      expect(await scene.paid()).to.equal(20n);
      scene.merchant.misbehave = () => undefined;
      await merge();
      // Change is no longer held: 14 of 20 came back, so a token of 10 has room.
      await (await pay(`${ORIGIN}/c`)).text();
    });

    it("if a key of its change is missing, also in a pack of which the wallet has tokens", async () => {
      const [whole] = scene.merchant.schedules;
      const { schedule } = decodeSignedSchedule(whole!);
      const missing = schedule.values.indexOf(2n);
      const withoutIt = <T>(list: readonly T[]) => list.filter((_, i) => i !== missing);
      const [values, keys] = [withoutIt(schedule.values), schedule.keys.map(withoutIt)];
      const { firstEpoch } = schedule;
      const partial = await signedSchedule(scene.merchant.account, { origin: ORIGIN, firstEpoch, values, keys });
      scene.merchant.schedules = [encodeSignedSchedule(partial)];
      await expectRejected("PREPAID_NOT_OFFERED", () => paying()(`${ORIGIN}/a`));
      await assertUnpaid();
      await scene.buy();
      await expectRejected("PREPAID_NOT_OFFERED", () => paying()(`${ORIGIN}/a`));
      expect(scene.merchant.used.size).to.equal(0);
      scene.merchant.schedules = [whole!];
      await (await paying()(`${ORIGIN}/a`)).text();
      expect(scene.merchant.used.size).to.equal(1);
    });

    it("if a mirror does not show the keys of its change", async () => {
      const mirrors = ["https://mirror.example/zk"];
      await expectRejected("PREPAID_MIRROR_FAILED", () => paying({ mirrors })(`${ORIGIN}/a`));
      await assertUnpaid();
    });

    it("if its 402 names a second key for the cap, and tokens stop there", async () => {
      await scene.buy();
      scene.merchant.misbehave = async ({ headers, target }, answer) => {
        if (target !== "/a" || headers.has(PREPAID_HEADER)) return undefined;
        const json = (await (await answer()).json()) as { payment: { metered: object } };
        const metered = { ...json.payment.metered, tokenKeyId: `0x${"11".repeat(32)}` };
        return Response.json(
          { ...json, payment: { ...json.payment, metered } },
          { status: 402, headers: { "www-authenticate": "x402-zk" } },
        );
      };
      await expectRejected("PREPAID_STOPPED", () => paying()(`${ORIGIN}/a`));
      expect([await scene.stop(), scene.merchant.used.size]).to.deep.equal(["PREPAID_KEY_CONFLICT", 0]);
    });

    it("if its 402 names another cap than its price", async () => {
      scene.merchant.misbehave = async ({ target }, answer) => {
        if (target !== "/a") return undefined;
        const json = (await (await answer()).json()) as { payment: { metered: object } };
        const metered = { ...json.payment.metered, cap: "20" };
        return Response.json(
          { ...json, payment: { ...json.payment, metered } },
          { status: 402, headers: { "www-authenticate": "x402-zk" } },
        );
      };
      await expectRejected("CHALLENGE_INVALID", () => paying()(`${ORIGIN}/a`));
      await assertUnpaid();
    });
  });

  describe("is stopped", () => {
    /** Changes the answers to claims. */
    const answering = (change: (answer: ChangeAnswer) => ChangeAnswer) => {
      scene.merchant.misbehave = async ({ target }, answer) => {
        if (target !== PREPAID_CHANGE_PATH) return undefined;
        return new Response(formatChangeAnswer(change(parseChangeAnswer(await (await answer()).text()))));
      };
    };
    const pay = async () => {
      await (await paying()(`${ORIGIN}/a`)).text();
      await stopped();
      const paid = await scene.paid();
      await expectRejected("PREPAID_STOPPED", () => paying()(`${ORIGIN}/b`));
      expect(await scene.paid()).to.equal(paid);
      return scene.stop();
    };

    it("if another key than the receipt key of the month signs its receipt", async () => {
      const other = new Uint8Array(32).fill(9);
      answering((answer) => ({ ...answer, receipt: signReceipt(answer.receipt.receipt, other) }));
      expect(await pay()).to.equal("PREPAID_RECEIPT_INVALID");
      const terms = (await keptTerms(scene.payer)).map((each) => each.terms);
      const { charges } = checkCharges(await keptReceipts(scene.payer), terms);
      expect(charges.map(({ signed }) => signed)).to.deep.equal([false]);
    });

    it("if it signs a second receipt with the change, and both convict it", async () => {
      const { merchant } = scene;
      merchant.says = () => -1n;
      answering((answer) => {
        if (answer.signatures === undefined) return answer;
        const receipt = { ...answer.receipt.receipt, units: { output: 3n }, charge: 4n, change: 6n };
        return { ...answer, receipt: merchant.signed(receipt) };
      });
      expect(await pay()).to.equal("PREPAID_RECEIPT_INVALID");
      const terms = (await keptTerms(scene.payer)).map((each) => each.terms);
      const { contradictions } = checkCharges(await keptReceipts(scene.payer), terms);
      expect(contradictions.map(({ kind }) => kind)).to.deep.equal(["token"]);
    });

    it("if it signs the change of the charge that it said, and a receipt of another", async () => {
      const { merchant } = scene;
      answering((answer) => {
        const receipt = { ...answer.receipt.receipt, units: { output: 3n }, charge: 4n, change: 6n };
        return { ...answer, receipt: merchant.signed(receipt) };
      });
      expect(await pay()).to.equal("PREPAID_CHANGE_REFUSED");
      const kept = await keptReceipts(scene.payer);
      expect(kept.map(({ receipt }) => receipt.charge)).to.deep.equal([4n]);
    });

    it("if it signs change with the keys of another month", async () => {
      const epoch = scene.merchant.laterEpoch(1);
      answering((answer) => ({ ...answer, epoch }));
      expect(await pay()).to.equal("PREPAID_CHANGE_REFUSED");
    });

    for (const [code, status] of [
      ["METERED_BATCH_OTHER", 409],
      ["METERED_CLAIM_INVALID", 403],
      ["METERED_REQUEST_INVALID", 400],
    ] as const)
      it(`if it answers ${code} to an honest claim`, async () => {
        scene.merchant.misbehave = ({ target }) =>
          target === PREPAID_CHANGE_PATH ? Response.json({ code }, { status }) : undefined;
        expect(await pay()).to.equal("PREPAID_CHANGE_REFUSED");
      });

    /** Two charges of 1, whose change can be swapped. */
    const swappable = async () => {
      scene.merchant.units = {};
      for (const path of ["/a", "/b"]) await (await paying({ buyAfter: 1_000 })(ORIGIN + path)).text();
      await ended();
    };

    it("if it refuses a swap of tokens that were never shown", async () => {
      await swappable();
      scene.merchant.misbehave = ({ target }) =>
        target === PREPAID_SWAP_PATH ? Response.json({ code: "METERED_SPENT" }, { status: 409 }) : undefined;
      const { metered } = await opened();
      expect((await metered.swaps.swap(ORIGIN)).kind).to.equal("lost");
      expect(await scene.stop()).to.equal("PREPAID_CHANGE_REFUSED");
      expect(metered.swaps.isUseful(ORIGIN)).to.equal(false);
    });

    it("if it answers a swap with a wrong signature", async () => {
      await swappable();
      scene.merchant.misbehave = async ({ target }, answer) => {
        if (target !== PREPAID_SWAP_PATH) return undefined;
        const signatures = parseSwapAnswer(await (await answer()).text());
        signatures[0]! ^= 1;
        return new Response(formatSwapAnswer(signatures));
      };
      const { metered } = await opened();
      expect((await metered.swaps.swap(ORIGIN)).kind).to.equal("lost");
      expect(await scene.stop()).to.equal("PREPAID_CHANGE_REFUSED");
    });
  });

  it("is paid again after its owner gave up what it owes", async () => {
    scene.merchant.misbehave = ({ target }) =>
      target === PREPAID_CHANGE_PATH ? Response.json({ code: "METERED_CLAIM_INVALID" }, { status: 403 }) : undefined;
    await (await paying()(`${ORIGIN}/a`)).text();
    await stopped();
    scene.merchant.misbehave = ({ target }) =>
      target === PREPAID_CHANGE_PATH ? Response.json({ code: "METERED_RUNNING" }, { status: 409 }) : undefined;
    await book.resume(ORIGIN);
    await (await paying()(`${ORIGIN}/b`)).text();
    await until(() => book.metered.requests().some(({ askedAt }) => askedAt !== undefined));
    expect(await dropPrepaid(scene.payer, ORIGIN)).to.equal(10n);
    expect((await scene.listed())?.unspent).to.equal(0n);
    expect(await scene.payer.store.list("prepaid/metered/")).to.deep.equal([]);
    scene.merchant.misbehave = () => undefined;
    await (await paying()(`${ORIGIN}/c`)).text();
    await ended();
    expect((await scene.listed())?.unspent).to.equal(7n);
  });

  it("returns the change of a request before the wallet was restored from its words", async () => {
    scene.merchant.misbehave = ({ target }) =>
      target === PREPAID_CHANGE_PATH ? Response.json({ code: "METERED_RUNNING" }, { status: 409 }) : undefined;
    await (await paying()(`${ORIGIN}/before`)).text();
    await scene.payer.close();
    scene.payer = await scene.world.wallet({ seed: SEED });
    await scene.payer.scan();
    book = await prepaidBookOf(scene.payer.store);
    scene.merchant.misbehave = () => undefined;
    const found = await restorePrepaid(scene.merchant.fetch, scene.payer, scene.options(), ORIGIN);
    expect(found.map(({ count }) => count)).to.deep.equal([1]);
    // Which tokens were shown is not known: the server refuses this one, and owes its change.
    await expectRejected("PREPAID_TOKEN_REFUSED", () => paying({ buy: false })(`${ORIGIN}/after`));
    await ended();
    expect([await scene.stop(), (await scene.listed())?.unspent, await scene.paid()]).to.deep.equal([
      undefined,
      7n,
      10n,
    ]);
  });

  it("shows its keys and terms once: later requests ask for neither", async () => {
    await scene.buy();
    const asked = () =>
      [PREPAID_KEYS_PATH, PREPAID_TERMS_PATH].map(
        (path) => scene.merchant.targets().filter((target) => target === path).length,
      );
    const pay = paying({ buy: false });
    await (await pay(`${ORIGIN}/a`)).text();
    await ended();
    const before = asked();
    await (await pay(`${ORIGIN}/b`)).text();
    await ended();
    expect(before[1]).to.equal(1);
    expect(asked()).to.deep.equal(before);
  });
});
