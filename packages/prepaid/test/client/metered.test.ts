// Metered credit of the client, against a merchant in memory with real keys and checks.
import { DAY_MS } from "@sotto/test-kit/clock";
import { anyRejection, expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { MemoryStore, type Store } from "@sotto/wallet";
import { expect } from "chai";
import { SEED } from "../../../wallet/test/support/merchant.ts";
import { type PrepaidBook, prepaidBookOf } from "../../src/client/book.ts";
import { checkCharges, keptReceipts, keptTerms } from "../../src/client/check-charges.ts";
import { chargeEntries, listCharges } from "../../src/client/list.ts";
import { mergePrepaid } from "../../src/client/merge.ts";
import { openPrepaid } from "../../src/client/open.ts";
import type { ChargeEvent } from "../../src/client/options.ts";
import { type ChargeReceipt, PREPAID_CHANGE_PATH, PREPAID_SWAP_PATH, parseChangeRequest } from "../../src/index.ts";
import { MeteredWorld, RULE } from "./support/metered-merchant.ts";
import { ORIGIN } from "./support/world.ts";

type Wrapping = Parameters<MeteredWorld["wrap"]>;

const LOST = () => {
  throw new TypeError("fetch failed");
};

describe("a metered route", function () {
  slow(this, "private payments for packs, blinded and signed");
  let scene: MeteredWorld;
  let book: PrepaidBook;
  let charges: ChargeEvent[];
  beforeEach(async () => {
    scene = await MeteredWorld.open();
    book = await prepaidBookOf(scene.payer.store);
    charges = [];
  });

  const settings = (changes: Wrapping[0] = {}): Wrapping[0] => ({
    buy: true,
    maxDelayMs: 1e9,
    onCharge: (event) => void charges.push(event),
    ...changes,
  });
  const paying = (changes: Wrapping[0] = {}, terms: Wrapping[1] = {}) => scene.wrap(settings(changes), terms);
  const until = async (holds: () => boolean) => {
    for (let i = 0; !holds() && i < 1500; i += 1) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(holds()).to.equal(true);
  };
  /** Resolves when so many charges are known. */
  const charged = async (count: number): Promise<readonly bigint[]> => {
    await until(() => charges.length >= count);
    return charges.map(({ charge }) => charge);
  };
  const held = () =>
    book
      .packs(ORIGIN)
      .flatMap((pack) => new Array<string>(book.left(pack)).fill(pack.value))
      .sort((a, b) => Number(a) - Number(b));
  const unspent = async () => (await scene.listed())?.unspent;
  /** What was paid is what was charged and what the wallet still has. */
  const assertConserved = async () =>
    expect(await scene.paid()).to.equal(scene.merchant.charged() + ((await unspent()) ?? 0n));
  const merge = () => mergePrepaid(scene.merchant.fetch, scene.payer, scene.options(settings()));
  const stops = () => scene.stop();

  it("buys a single token, charges what was used, and returns the rest", async () => {
    const pay = paying();
    expect(await (await pay(`${ORIGIN}/a?b=1`)).text()).to.equal("served /a?b=1");
    await charged(1);
    expect(charges[0]).to.include({ origin: ORIGIN, method: "GET", target: "/a?b=1", charge: 3n, change: 7n });
    expect(charges[0]!.units).to.deep.equal({ output: 2n });
    expect([await scene.paid(), await unspent()]).to.deep.equal([10n, 7n]);
    expect(held()).to.deep.equal(["2", "5"]);
    expect(book.metered.requests()).to.deep.equal([]);
    const [kept] = await listCharges(scene.payer);
    expect(kept).to.include({ origin: ORIGIN, target: "/a?b=1", charge: 3n, receipt: charges[0]!.receipt });
    const [entry] = await chargeEntries(scene.payer, 6);
    expect(entry).to.include({ kind: "charge", id: kept!.id, charge: 3n, chargeDecimal: "0.000003" });
    expect(entry).to.include({ resource: `${ORIGIN}/a?b=1`, recipientWallet: kept!.wallet });
  });

  it("pays twelve small requests with three tokens, because change is merged into tokens of the cap", async () => {
    scene.merchant.units = {};
    const pay = paying({ maxDelayMs: 0, buyAfter: 1_000 });
    for (let i = 1; i <= 12; i += 1) {
      await (await pay(`${ORIGIN}/${i}`)).text();
      await charged(i);
      await merge();
    }
    expect(await scene.paid()).to.equal(30n);
    expect(scene.merchant.charged()).to.equal(12n);
    expect(scene.merchant.swaps.size).to.be.greaterThan(3);
    await assertConserved();
  });

  describe("whose change is merged", () => {
    const REQUESTS = 12;
    const isSwap = ({ target }: { readonly target: string }) => target === PREPAID_SWAP_PATH;
    const swaps = () => scene.merchant.seen.filter(isSwap).length;
    beforeEach(async () => {
      await scene.buy();
      scene.merchant.units = {};
      const pay = paying({ buy: false });
      for (let i = 1; i <= REQUESTS; i += 1) await (await pay(`${ORIGIN}/${i}`)).text();
      await charged(REQUESTS);
    });

    it("makes one swap, and then at most four at once", async () => {
      let running = 0;
      const counts: number[] = [];
      scene.merchant.misbehave = async (seen) => {
        if (!isSwap(seen)) return undefined;
        running += 1;
        counts.push(running);
        await new Promise((resolve) => setTimeout(resolve, 20));
        running -= 1;
        return undefined;
      };
      const merged = await merge();
      expect([merged.problems, merged.swaps]).to.deep.equal([[], counts.length]);
      expect([counts[0], counts[1], Math.max(...counts)]).to.deep.equal([1, 1, 4]);
      expect([book.metered.swaps().length, swaps()]).to.deep.equal([0, counts.length]);
      await assertConserved();
      expect((await merge()).swaps).to.equal(0);
    });

    it("gives a merchant that withholds a swap no others, and resumes each once", async () => {
      let isHonest = true;
      scene.merchant.misbehave = (seen) => {
        if (!isSwap(seen)) return undefined;
        if (!isHonest) return Response.json({ code: "PREPAID_UNAVAILABLE" }, { status: 503 });
        isHonest = false;
        return undefined;
      };
      const merged = await merge();
      expect([merged.swaps, merged.problems.length, swaps()]).to.deep.equal([1, 1, 5]);
      const withheld = book.metered.swaps().map(({ id }) => id);
      expect(withheld).to.have.length(4);
      await assertConserved();
      scene.merchant.misbehave = () => undefined;
      expect((await merge()).problems).to.deep.equal([]);
      expect(book.metered.swaps()).to.deep.equal([]);
      expect(scene.merchant.swaps.size).to.equal(swaps() - 4);
      await assertConserved();
    });

    /** Leaves four swaps open. */
    const withholdFour = async () => {
      let answered = 0;
      scene.merchant.misbehave = (seen) => {
        if (!isSwap(seen)) return undefined;
        answered += 1;
        return answered > 1 ? Response.json({ code: "PREPAID_UNAVAILABLE" }, { status: 503 }) : undefined;
      };
      await merge();
      expect(book.metered.swaps()).to.have.length(4);
    };

    it("resumes the others if the merchant never answers one of them", async () => {
      await withholdFour();
      let withheld: string | undefined;
      scene.merchant.misbehave = (seen) => {
        if (!isSwap(seen)) return undefined;
        const body = new TextDecoder().decode(seen.body);
        withheld ??= body;
        return body === withheld ? Response.json({ code: "PREPAID_UNAVAILABLE" }, { status: 503 }) : undefined;
      };
      expect((await merge()).swaps).to.equal(0);
      await merge();
      await merge();
      expect(book.metered.swaps()).to.have.length(1);
      await assertConserved();
    });

    it("resumes the others in the background after the merchant has refused one of them", async () => {
      await withholdFour();
      let refused = 0;
      scene.merchant.misbehave = (seen) => {
        if (!isSwap(seen) || refused > 0) return undefined;
        refused += 1;
        return Response.json({ code: "METERED_SPENT" }, { status: 409 });
      };
      const options = scene.options(settings({ maxDelayMs: 0 }));
      const { metered } = await openPrepaid(scene.merchant.fetch, scene.payer, options);
      metered.background.considerSwap(ORIGIN);
      await until(() => book.metered.swaps().length === 0);
      expect([refused, await stops()]).to.deep.equal([1, "PREPAID_CHANGE_REFUSED"]);
    });

    it("resumes a swap that the store refused, with its tokens", async () => {
      const { store } = scene.payer;
      const batch = store.batch.bind(store);
      let failures = 1;
      store.batch = async (changes) => {
        const hasSwap = changes.some((change) => "put" in change && change.put.startsWith("prepaid/swap/"));
        if (!hasSwap || failures === 0) return batch(changes);
        failures -= 1;
        throw new Error("the disk is full");
      };
      const { problems } = await merge();
      expect([problems.map(String), swaps()]).to.deep.equal([["Error: the disk is full"], 0]);
      await assertConserved();
      expect((await merge()).problems).to.deep.equal([]);
      await assertConserved();
      const left = held();
      book = await prepaidBookOf(await copyOf(store));
      expect([book.metered.swaps(), held()]).to.deep.equal([[], left]);
    });
  });

  it("takes tokens of a pack, and never those of before change existed", async () => {
    await scene.buy();
    const pack = book.packs(ORIGIN)[0]!;
    await book.putPack({ ...pack, version: undefined });
    await (await paying({ buy: false })(`${ORIGIN}/a`)).text();
    expect(scene.merchant.served.at(-1)?.by).to.equal("proof");
    await book.putPack(pack);
    await (await paying({ buy: false })(`${ORIGIN}/b`)).text();
    expect(scene.merchant.served.at(-1)?.by).to.equal("meter");
    expect(await charged(1)).to.deep.equal([3n]);
  });

  it("shows a token again only if the server does not know it, and only for an equal request", async () => {
    const pay = paying();
    scene.merchant.misbehave = ({ headers }) => (headers.has("x-payment-token") ? LOST() : undefined);
    await pay(`${ORIGIN}/a`).catch((error: unknown) => expect(error).to.be.instanceOf(TypeError));
    await until(() => book.metered.requests()[0]?.state === "unknown");
    scene.merchant.misbehave = () => undefined;
    await (await pay(`${ORIGIN}/b`)).text();
    await charged(1);
    expect(await scene.paid(), "another request has another token").to.equal(20n);
    await (await pay(`${ORIGIN}/a`)).text();
    expect(await charged(2)).to.deep.equal([3n, 3n]);
    expect(await scene.paid()).to.equal(20n);
    await assertConserved();
  });

  it("does not show a token again if the 402 names another rule", async () => {
    const pay = paying();
    scene.merchant.misbehave = ({ headers }) => (headers.has("x-payment-token") ? LOST() : undefined);
    await pay(`${ORIGIN}/a`).catch((error: unknown) => expect(error).to.be.instanceOf(TypeError));
    await until(() => book.metered.requests()[0]?.state === "unknown");
    scene.merchant.misbehave = () => undefined;
    scene.merchant.rule = { ...RULE, base: 2n };
    await expectRejected("PREPAID_TERMS_REFUSED", () => pay(`${ORIGIN}/a`));
    expect(scene.merchant.used.size).to.equal(0);
  });

  it("ends at a merchant that serves a request and denies that its token was spent", async () => {
    scene.merchant.misbehave = ({ target }) =>
      target === PREPAID_CHANGE_PATH ? Response.json({ code: "METERED_UNKNOWN" }, { status: 404 }) : undefined;
    const { metered } = await openPrepaid(scene.merchant.fetch, scene.payer, scene.options(settings()));
    await (await paying()(`${ORIGIN}/a`)).text();
    const { id } = book.metered.requests()[0]!;
    expect((await metered.claims.claim(id)).kind).to.equal("unknown");
    expect(await unspent(), "another server may know it").to.equal(10n);
    expect((await metered.claims.denied(id))?.code).to.equal("PREPAID_CHANGE_REFUSED");
    expect(await stops()).to.equal("PREPAID_CHANGE_REFUSED");
  });

  it("claims the change of a request whose answer was lost, and an equal request is a new one", async () => {
    const pay = paying();
    scene.merchant.misbehave = async ({ headers }, answer) => {
      if (!headers.has("x-payment-token")) return undefined;
      await answer();
      return LOST();
    };
    await pay(`${ORIGIN}/a`).catch((error: unknown) => expect(error).to.be.instanceOf(TypeError));
    scene.merchant.misbehave = () => undefined;
    await (await pay(`${ORIGIN}/a`)).text();
    expect(await charged(2)).to.deep.equal([3n, 3n]);
    expect([scene.merchant.rows.size, await unspent()]).to.deep.equal([2, 14n]);
    await assertConserved();
  });

  it("returns the whole cap of a request that failed, and does not show its token again", async () => {
    scene.merchant.status = 500;
    expect((await paying()(`${ORIGIN}/a`)).status).to.equal(500);
    expect(await charged(1)).to.deep.equal([0n]);
    expect([held(), scene.merchant.rows.size]).to.deep.equal([["10"], 1]);
  });

  const claims = () =>
    scene.merchant.seen
      .filter(({ target }) => target === PREPAID_CHANGE_PATH)
      .map(({ body }) => parseChangeRequest(new TextDecoder().decode(body)));

  it("asks for receipt and change at once if the response says the charge", async () => {
    await (await paying()(`${ORIGIN}/a`)).text();
    expect(await charged(1)).to.deep.equal([3n]);
    expect(claims().map(({ batch, charge }) => [batch?.length, charge])).to.deep.equal([[512, 3n]]);
    await assertConserved();
  });

  it("asks for the change of the receipt if the response says another charge, also one with as many tokens", async () => {
    for (const [i, says] of [1n, 6n].entries()) {
      scene.merchant.says = () => says;
      await (await paying({ buyAfter: 1_000 })(`${ORIGIN}/${i}`)).text();
      expect(await charged(i + 1)).to.deep.equal(new Array(i + 1).fill(3n));
    }
    expect(claims().map(({ charge }) => charge)).to.deep.equal([1n, undefined, 6n, undefined]);
    const sizes = claims().map(({ batch }) => batch?.length);
    expect(sizes).to.deep.equal([3 * 256, 512, 512, 512]);
    expect(held()).to.deep.equal(["2", "2", "5", "5"]);
    await assertConserved();
  });

  it("asks for the receipt first if the response says no charge that is possible", async () => {
    for (const [i, says] of [-1n, 11n, 10n].entries()) {
      scene.merchant.says = () => says;
      await (await paying({ buyAfter: 1_000 })(`${ORIGIN}/${i}`)).text();
      await charged(i + 1);
    }
    expect(claims().map(({ batch }) => batch === undefined)).to.deep.equal([true, false, true, false, true, false]);
    await assertConserved();
  });

  it("gets the change of a server that refuses claims which say a charge", async () => {
    scene.merchant.misbehave = ({ target, body }) =>
      target === PREPAID_CHANGE_PATH && new TextDecoder().decode(body).includes('"charge"')
        ? Response.json({ code: "METERED_REQUEST_INVALID" }, { status: 400 })
        : undefined;
    await (await paying()(`${ORIGIN}/a`)).text();
    expect(await charged(1)).to.deep.equal([3n]);
    expect(held()).to.deep.equal(["2", "5"]);
  });

  it("sends the same batch again after an answer with receipt and change was lost, also if the server refuses it once", async () => {
    let answers = 0;
    scene.merchant.misbehave = async ({ target }, answer) => {
      if (target !== PREPAID_CHANGE_PATH) return undefined;
      answers += 1;
      if (answers === 1) {
        await answer();
        return LOST();
      }
      return answers === 2 ? Response.json({ code: "METERED_REQUEST_INVALID" }, { status: 400 }) : undefined;
    };
    await (await paying()(`${ORIGIN}/a`)).text();
    expect(await charged(1)).to.deep.equal([3n]);
    const batches = new Set(claims().flatMap(({ batch }) => (batch === undefined ? [] : [String(batch)])));
    expect([batches.size, claims().length]).to.deep.equal([1, 4]);
  });

  it("claims the change of a stream once it ends", async () => {
    scene.merchant.streams = true;
    await (await paying()(`${ORIGIN}/a`)).text();
    await until(() => scene.merchant.targets().filter((target) => target === PREPAID_CHANGE_PATH).length >= 2);
    expect([charges.length, await unspent()]).to.deep.equal([0, 10n]);
    scene.merchant.end();
    expect(await charged(1)).to.deep.equal([3n]);
  });

  it("claims in the next process what this one left open", async () => {
    scene.merchant.streams = true;
    await (await paying()(`${ORIGIN}/a`)).text();
    scene.merchant.end();
    const merged = await merge();
    expect(merged.charges.map(({ charge }) => charge)).to.deep.equal([3n]);
    expect(held()).to.deep.equal(["2", "5"]);
  });

  it("repeats a claim and a swap whose answers were lost, and gets the same tokens", async () => {
    scene.merchant.units = {};
    let lost = 0;
    scene.merchant.misbehave = async ({ target }, answer) => {
      if (![PREPAID_CHANGE_PATH, PREPAID_SWAP_PATH].includes(target) || lost % 2 === 1) {
        lost += target.startsWith("/.well-known") ? 1 : 0;
        return undefined;
      }
      lost += 1;
      await answer();
      return LOST();
    };
    const pay = paying({ maxDelayMs: 0 });
    for (let i = 1; i <= 3; i += 1) {
      await (await pay(`${ORIGIN}/${i}`)).text();
      await charged(i);
    }
    await until(() => scene.merchant.swaps.size > 0 && book.metered.swaps().length === 0);
    await assertConserved();
  });

  const lies: Record<string, (receipt: ChargeReceipt) => ChargeReceipt> = {
    "charges more than the units cost": (receipt) => ({ ...receipt, charge: 4n, change: 6n }),
    "keeps a part of the change": (receipt) => ({ ...receipt, change: 6n }),
    "is for another request": (receipt) => ({ ...receipt, target: "/other" }),
    "is for another token": (receipt) => ({ ...receipt, token: `0x${"11".repeat(32)}` }),
    "names another rule": (receipt) => ({ ...receipt, rule: `0x${"11".repeat(32)}` }),
    "counts a unit without a price": (receipt) => ({ ...receipt, units: { input: 1n } }),
    "is of a month without a receipt key": (receipt) => ({ ...receipt, epoch: "2031-01" }),
  };
  for (const [title, forge] of Object.entries(lies))
    it(`ends at a merchant whose receipt ${title}, and keeps the receipt`, async () => {
      scene.merchant.forge = forge;
      const pay = paying();
      await (await pay(`${ORIGIN}/a`)).text();
      await until(() => book.origin(ORIGIN).stopped !== null);
      expect(await stops()).to.equal("PREPAID_RECEIPT_INVALID");
      expect(book.origin(ORIGIN).stopped?.receipts).to.have.length(1);
      const paid = await scene.paid();
      await expectRejected("PREPAID_STOPPED", () => pay(`${ORIGIN}/b`));
      expect(await scene.paid()).to.equal(paid);
    });

  it("is not paid if its 402 names another rule than the signed terms", async () => {
    scene.merchant.rule = { ...RULE, base: 2n };
    await expectRejected("PREPAID_TERMS_REFUSED", () => paying()(`${ORIGIN}/a`));
    expect([await scene.paid(), scene.merchant.used.size]).to.deep.equal([0n, 0]);
  });

  it("is not paid after its merchant signed a second rule for the month", async () => {
    await (await paying()(`${ORIGIN}/a`)).text();
    await charged(1);
    scene.merchant.rule = { ...RULE, base: 2n };
    scene.merchant.terms.push(await scene.merchant.signTerms());
    await expectRejected("PREPAID_TERMS_CONFLICT", () => paying()(`${ORIGIN}/b`));
    expect(await stops()).to.equal("PREPAID_TERMS_CONFLICT");
    expect(book.origin(ORIGIN).stopped?.terms).to.have.length(2);
    const terms = (await keptTerms(scene.payer)).map((signed) => signed.terms);
    expect(terms).to.deep.equal(scene.merchant.terms.map((signed) => signed.terms));
    const { contradictions } = checkCharges(await keptReceipts(scene.payer), terms);
    expect(contradictions.map(({ kind }) => kind)).to.deep.equal(["terms", "rule"]);
  });

  it("is not paid if another account signed its terms", async () => {
    const [signed] = scene.merchant.terms;
    const other = await MeteredWorld.open({}, scene.world);
    scene.merchant.terms = [{ ...signed!, signature: other.merchant.terms[0]!.signature }];
    await expectRejected("PREPAID_TERMS_REFUSED", () => paying()(`${ORIGIN}/a`));
  });

  it("counts the charge against the limits of a day, and the cap while the charge is not known", async () => {
    await scene.buy();
    const pay = paying({ buy: false }, { maxPerDay: 15n });
    await (await pay(`${ORIGIN}/1`)).text();
    await charged(1);
    await (await pay(`${ORIGIN}/2`)).text();
    await charged(2);
    await expectRejected("DAY_LIMIT_EXCEEDED", () => pay(`${ORIGIN}/3`));
    const more = paying({ buy: false }, { maxPerDay: 16n });
    await (await more(`${ORIGIN}/4`)).text();
    await charged(3);
  });

  it("stops at a merchant that refuses fresh tokens", async () => {
    const pay = paying();
    scene.merchant.misbehave = async (seen) =>
      seen.headers.has("x-payment-token") ? Response.json({ error: "no" }, { status: 402 }) : undefined;
    for (const path of ["/a", "/b"]) await expectRejected("PREPAID_TOKEN_REFUSED", () => pay(ORIGIN + path));
    expect(await stops(), "its price may have changed meanwhile").to.equal(undefined);
    await expectRejected("PREPAID_TOKEN_REFUSED", () => pay(`${ORIGIN}/c`));
    expect(await stops()).to.equal("PREPAID_TOKEN_REFUSED");
  });

  it("shows the same token again while the server answers that it did not take it", async () => {
    let asked = 0;
    scene.merchant.misbehave = ({ headers }) => {
      if (!headers.has("x-payment-token") || asked >= 2) return undefined;
      asked += 1;
      return Response.json({}, { status: 402, headers: { "retry-after": "0" } });
    };
    await (await paying()(`${ORIGIN}/a`)).text();
    expect(await charged(1)).to.deep.equal([3n]);
    expect(await scene.paid()).to.equal(10n);
  });

  it("ends at a merchant that returns a wrong signature as change", async () => {
    scene.merchant.misbehave = async ({ target, body }, answer) => {
      if (target !== PREPAID_CHANGE_PATH || !new TextDecoder().decode(body).includes("batch")) return undefined;
      const json = (await (await answer()).json()) as { signatures: string };
      return Response.json({ ...json, signatures: `AAAA${json.signatures.slice(4)}` });
    };
    await (await paying()(`${ORIGIN}/a`)).text();
    await until(() => book.origin(ORIGIN).stopped !== null);
    expect(await stops()).to.equal("PREPAID_SIGNATURES_INVALID");
  });

  it("keeps the pack of a token that a request is taking while another request ends", async () => {
    scene.merchant.streams = true;
    await (await paying()(`${ORIGIN}/open`)).text();
    scene.merchant.streams = false;
    scene.merchant.status = 500;
    await (await paying()(`${ORIGIN}/failed`)).text();
    await charged(1);
    scene.merchant.status = 200;
    // The whole cap came back: one token, in a pack of its own.
    expect(held()).to.deep.equal(["10"]);
    const { metered, tokens } = { metered: book.metered, tokens: book.tokens.bind(book) };
    book.tokens = async (pack, prepare) => {
      if (pack.change !== undefined && metered.requests().length > 0) {
        scene.merchant.end();
        await merge();
      }
      return tokens(pack, prepare);
    };
    const begin = metered.begin.bind(metered);
    const inUse: boolean[] = [];
    metered.begin = (record, ...others) => {
      const begun = begin(record, ...others);
      inUse.push(metered.inUse("").has(record.pack));
      return begun;
    };
    await (await paying({ buy: false })(`${ORIGIN}/last`)).text();
    expect(scene.merchant.served.at(-1)).to.deep.equal({ target: "/last", by: "meter" });
    expect(inUse, "from the same step on").to.deep.equal([true]);
    await until(() => metered.requests().length === 0);
    await assertConserved();
  });

  it("stores how many tokens are taken in the order in which they are taken", async () => {
    await scene.buy();
    const tokens = book.tokens.bind(book);
    let release = () => {};
    const first = new Promise<void>((resolve) => {
      release = resolve;
    });
    let calls = 0;
    book.tokens = async (...args) => {
      calls += 1;
      if (calls === 1) await first;
      return tokens(...args);
    };
    const slower = paying({ buy: false })(`${ORIGIN}/a`);
    await until(() => calls === 1);
    await (await paying({ buy: false })(`${ORIGIN}/b`)).text();
    release();
    await (await slower).text();
    const cursors = (await scene.payer.store.list("prepaid/cursor/")).map(({ value }) => value);
    expect(cursors).to.deep.equal([2]);
    await charged(2);
    await assertConserved();
  });

  it("takes no token for a request that a limit refuses while another one is being paid", async () => {
    await scene.buy();
    const pay = paying({ buy: false }, { maxPerDay: 15n });
    const results = await Promise.allSettled(["/1", "/2"].map((path) => pay(ORIGIN + path)));
    expect(results.map(({ status }) => status).sort()).to.deep.equal(["fulfilled", "rejected"]);
    await charged(1);
    await assertConserved();
  });

  const noChange = (code: string) => {
    scene.merchant.misbehave = ({ target }) =>
      target === PREPAID_CHANGE_PATH ? Response.json({ code }, { status: 409 }) : undefined;
  };

  /** Resolves when so many claims were asked and not answered. */
  const owed = (count: number) =>
    until(() => book.metered.requests().filter(({ askedAt }) => askedAt !== undefined).length === count);
  const pass = (seconds: number) => {
    scene.world.chain.time += seconds;
    scene.world.chain.mine();
  };
  const copyOf = async (store: Store) => {
    const copy = new MemoryStore();
    for (const { key, value } of await store.list("")) await copy.put(key, value);
    return copy;
  };

  it("is not paid by a wallet whose change it owes for longer than a request can run", async () => {
    noChange("METERED_RUNNING");
    await (await paying()(`${ORIGIN}/a`)).text();
    await owed(1);
    pass(2 * 3600 + 60);
    const paid = await scene.paid();
    await expectRejected("PREPAID_CHANGE_PENDING", () => paying()(`${ORIGIN}/b`));
    expect(await scene.paid()).to.equal(paid);
    scene.merchant.misbehave = () => undefined;
    expect((await merge()).problems).to.deep.equal([]);
    await (await paying()(`${ORIGIN}/b`)).text();
    expect(scene.merchant.served.at(-1)).to.deep.equal({ target: "/b", by: "meter" });
  });

  it("is paid although change is open for which no process has asked", async () => {
    scene = await MeteredWorld.open({ seed: SEED });
    const { store } = scene.payer;
    const died = new Promise<MemoryStore>((resolve) => {
      scene.merchant.misbehave = ({ target }) => {
        // The process dies before its first claim is answered.
        if (target === PREPAID_CHANGE_PATH) resolve(copyOf(store));
        return target === PREPAID_CHANGE_PATH ? LOST() : undefined;
      };
    });
    await (await paying()(`${ORIGIN}/a`)).text();
    scene.payer = await scene.world.wallet({ seed: SEED, store: await died });
    await scene.payer.scan();
    book = await prepaidBookOf(scene.payer.store);
    pass(3 * 3600);
    await (await paying({ random: () => 0.5 })(`${ORIGIN}/b`)).text();
    // From the first claim on, it is a debt.
    await merge();
    await owed(2);
    pass(2 * 3600 + 60);
    await expectRejected("PREPAID_CHANGE_PENDING", () => paying()(`${ORIGIN}/c`));
  });

  it("is paid for at most 32 requests whose claims it has not answered", async () => {
    await scene.buy();
    noChange("METERED_RUNNING");
    const pay = paying({ buy: false });
    for (let i = 1; i <= 32; i += 1) {
      await (await pay(`${ORIGIN}/${i}`)).text();
      await owed(i);
    }
    await expectRejected("PREPAID_CHANGE_PENDING", () => pay(`${ORIGIN}/33`));
    scene.merchant.misbehave = () => undefined;
    expect((await merge()).charges).to.have.length(32);
    await (await pay(`${ORIGIN}/33`)).text();
  });

  it("is paid for at most 32 requests if it never answers their claims", async () => {
    await scene.buy();
    let answer: () => void = () => undefined;
    const silence = new Promise<void>((resolve) => {
      answer = resolve;
    });
    scene.merchant.misbehave = async ({ target }) => {
      if (target === PREPAID_CHANGE_PATH) await silence;
      return undefined;
    };
    const pay = paying({ buy: false });
    for (let i = 1; i <= 32; i += 1) await (await pay(`${ORIGIN}/${i}`)).text();
    await expectRejected("PREPAID_CHANGE_PENDING", () => pay(`${ORIGIN}/33`));
    expect(scene.merchant.used.size).to.equal(32);
    answer();
    await (await pay(`${ORIGIN}/33`)).text();
    await until(() => book.metered.requests().length === 0);
    await assertConserved();
  });

  it("is waited for if it answers the claims of many requests soon", async () => {
    await scene.buy();
    noChange("METERED_RUNNING");
    const pay = paying({ buy: false });
    await Promise.all(Array.from({ length: 32 }, async (_, i) => (await pay(`${ORIGIN}/${i}`)).text()));
    await owed(32);
    const waiting = pay(`${ORIGIN}/last`);
    const leaving = new AbortController();
    const left = pay(`${ORIGIN}/left`, { signal: leaving.signal });
    leaving.abort(new Error("enough"));
    expect((await anyRejection(left)) as Error).to.have.property("message", "enough");
    scene.merchant.misbehave = () => undefined;
    expect((await waiting).status).to.equal(200);
  });

  it("owes the change until its month has ended, also if it says that it has", async () => {
    await scene.buy();
    const asked: string[] = [];
    scene.merchant.misbehave = ({ target, body }) => {
      if (target !== PREPAID_CHANGE_PATH) return undefined;
      const hasBatch = new TextDecoder().decode(body).includes("batch");
      asked.push(hasBatch ? "change" : "receipt");
      return hasBatch ? Response.json({ code: "METERED_ENDED" }, { status: 410 }) : undefined;
    };
    const pay = paying({ buy: false });
    for (let i = 1; i <= 3; i += 1) {
      await (await pay(`${ORIGIN}/${i}`)).text();
      await owed(i);
    }
    expect(book.metered.requests().map(({ state }) => state)).to.deep.equal(["claimed", "claimed", "claimed"]);
    // The receipt is asked for alone once the change is refused.
    expect(asked.slice(0, 3)).to.deep.equal(["change", "receipt", "change"]);
    pass(61);
    await expectRejected("PREPAID_CHANGE_PENDING", () => pay(`${ORIGIN}/4`));
    // Two months later, no key can sign it any more. What was charged is still known.
    pass(62 * 86_400);
    await scene.payer.scan();
    expect((await merge()).charges).to.deep.equal([]);
    expect(book.metered.requests()).to.deep.equal([]);
    expect((await listCharges(scene.payer)).map(({ charge }) => charge)).to.deep.equal([3n, 3n, 3n]);
    expect(await stops()).to.equal(undefined);
  });

  it("still owes the change if it answers METERED_ENDED without a receipt before the month has ended", async () => {
    scene.merchant.misbehave = ({ target }) =>
      target === PREPAID_CHANGE_PATH ? Response.json({ code: "METERED_ENDED" }, { status: 410 }) : undefined;
    await (await paying()(`${ORIGIN}/a`)).text();
    await owed(1);
    expect(await unspent()).to.equal(10n);
    scene.merchant.misbehave = () => undefined;
    expect((await merge()).charges.map(({ charge }) => charge)).to.deep.equal([3n]);
    await assertConserved();
  });

  it("keeps receipts when it forgets what can no longer be signed", async () => {
    await scene.buy();
    const refuse = (code: string) => {
      scene.merchant.misbehave = ({ target, body }) =>
        target === PREPAID_CHANGE_PATH && new TextDecoder().decode(body).includes("batch")
          ? Response.json({ code }, { status: 409 })
          : undefined;
    };
    const pay = paying({ buy: false });
    // One claim is open, one was refused with a receipt, and one without.
    refuse("METERED_RUNNING");
    scene.merchant.says = () => -1n;
    await (await pay(`${ORIGIN}/open`)).text();
    await owed(1);
    const ids: string[] = [];
    for (const misbehave of [() => refuse("METERED_BATCH_OTHER"), () => noChange("METERED_CLAIM_INVALID")]) {
      misbehave();
      await (await pay(`${ORIGIN}/refused`)).text();
      await until(() => book.origin(ORIGIN).stopped !== null);
      await book.resume(ORIGIN);
      ids.push(...book.metered.requests().flatMap(({ id, state }) => (state === "refused" ? [id] : [])));
    }
    expect(new Set(ids).size).to.equal(2);
    await book.prune(scene.world.clock() + 93 * DAY_MS);
    expect(book.metered.requests().map(({ id }) => id)).to.deep.equal([ids[0]]);
    expect(await scene.payer.store.list("prepaid/metered/")).to.have.length(1);
    expect((await listCharges(scene.payer)).map(({ target }) => target)).to.deep.equal(["/open"]);
    expect((await keptReceipts(scene.payer)).map(({ receipt }) => receipt.target).sort()).to.deep.equal([
      "/open",
      "/refused",
    ]);
  });

  it("deletes the pack of a request whose change was refused", async () => {
    scene.merchant.status = 500;
    await (await paying()(`${ORIGIN}/failed`)).text();
    await charged(1);
    // The whole cap came back: one token, in a pack of its own.
    const [pack] = book.packs(ORIGIN).filter(({ change }) => change !== undefined);
    scene.merchant.status = 200;
    noChange("METERED_CLAIM_INVALID");
    await (await paying({ buy: false })(`${ORIGIN}/refused`)).text();
    await until(() => book.origin(ORIGIN).stopped !== null);
    expect([book.metered.requests()[0]?.pack, book.left(pack!)]).to.deep.equal([pack!.id, 0]);
    await book.resume(ORIGIN);
    scene.merchant.misbehave = () => undefined;
    await (await paying()(`${ORIGIN}/next`)).text();
    await charged(2);
    expect(book.pack(pack!.id)).to.equal(undefined);
    expect(await scene.payer.store.get(`prepaid-signatures/${pack!.id}`)).to.equal(undefined);
  });

  it("asks again within a minute, however long the server wants it to wait", async () => {
    scene.merchant.misbehave = ({ target }) =>
      target === PREPAID_CHANGE_PATH
        ? Response.json({ code: "METERED_RUNNING" }, { status: 409, headers: { "retry-after": "1000000" } })
        : undefined;
    const delays: number[] = [];
    const { setTimeout: real } = globalThis;
    globalThis.setTimeout = ((action: () => void, ms = 0, ...rest: []) => {
      delays.push(ms);
      return real(action, ms, ...rest);
    }) as typeof setTimeout;
    try {
      await (await paying({ random: () => 0 })(`${ORIGIN}/a`)).text();
      await owed(1);
      await until(() => delays.includes(60_000));
    } finally {
      globalThis.setTimeout = real;
    }
    expect(Math.max(...delays)).to.equal(60_000);
  });

  for (const [code, kind] of [
    ["METERED_RUNNING", "running"],
    ["METERED_CLAIM_INVALID", "lost"],
  ] as const)
    it(`can be given up while its claim runs that is answered with ${code}`, async () => {
      scene = await MeteredWorld.open({ seed: SEED });
      noChange("METERED_RUNNING");
      await (await paying()(`${ORIGIN}/a`)).text();
      // Another process, which claims nothing in the background.
      const payer = await scene.world.wallet({ seed: SEED, store: await copyOf(scene.payer.store) });
      const options = scene.options(settings({ buy: false }));
      const { book: other, metered } = await openPrepaid(scene.merchant.fetch, payer, options);
      noChange(code);
      const claimed = metered.claims.claim(other.metered.requests()[0]!.id);
      await other.drop(ORIGIN, payer.now());
      expect((await claimed).kind).to.equal(kind);
      expect([other.metered.requests(), other.origin(ORIGIN).stopped]).to.deep.equal([[], null]);
    });

  it("is asked for nothing after the wallet is closed", async () => {
    noChange("METERED_RUNNING");
    await (await paying()(`${ORIGIN}/a`)).text();
    await owed(1);
    const { metered } = await openPrepaid(scene.merchant.fetch, scene.payer, scene.options(settings()));
    await scene.payer.close();
    const asked = scene.merchant.seen.length;
    await expectRejected("WALLET_CLOSED", () => metered.claims.claim(book.metered.requests()[0]!.id));
    expect(scene.merchant.seen).to.have.length(asked);
  });

  it("stores that a request was served, so that a later process knows it", async () => {
    noChange("METERED_RUNNING");
    await (await paying()(`${ORIGIN}/a`)).text();
    const [record] = await scene.payer.store.list("prepaid/metered/");
    expect(record?.value).to.include({ state: "shown", served: true });
  });

  it("counts the cap of a token that the server says it does not know, and stops after three of them", async () => {
    await scene.buy();
    scene.merchant.misbehave = ({ headers }) => (headers.has("x-payment-token") ? LOST() : undefined);
    const pay = paying({ buy: false }, { maxPerDay: 35n });
    for (const [i, path] of ["/a", "/b", "/c"].entries()) {
      expect(await stops()).to.equal(undefined);
      await pay(ORIGIN + path).catch((error: unknown) => expect(error).to.be.instanceOf(TypeError));
      await until(() => book.metered.requests().filter(({ state }) => state === "unknown").length === i + 1);
    }
    const [{ place }] = book.metered.requests() as [ReturnType<typeof book.metered.requests>[0]];
    expect(book.metered.charged(place)).to.equal(30n);
    expect(await stops()).to.equal("PREPAID_TOKEN_REFUSED");
    await expectRejected("PREPAID_STOPPED", () => pay(`${ORIGIN}/d`));
  });

  it("dates a token that is shown again by its second request", async () => {
    await scene.buy();
    scene.merchant.misbehave = ({ headers }) => (headers.has("x-payment-token") ? LOST() : undefined);
    const pay = paying({ buy: false });
    await pay(`${ORIGIN}/a`).catch((error: unknown) => expect(error).to.be.instanceOf(TypeError));
    await until(() => book.metered.requests()[0]?.state === "unknown");
    scene.merchant.misbehave = () => undefined;
    // In the next month, the token is still accepted.
    scene.world.chain.time += 20 * 86_400;
    scene.world.chain.mine();
    await (await pay(`${ORIGIN}/a`)).text();
    expect(await charged(1)).to.deep.equal([3n]);
    expect([scene.merchant.rows.size, await stops()]).to.deep.equal([1, undefined]);
  });

  it("ends at a merchant in one write, with its wrong receipt in the record", async () => {
    scene.merchant.forge = (receipt) => ({ ...receipt, charge: 4n, change: 6n });
    const { store } = scene.payer;
    const batch = store.batch.bind(store);
    const writes: string[][] = [];
    store.batch = (changes) => {
      writes.push(changes.map((change) => ("put" in change ? change.put : change.delete)));
      return batch(changes);
    };
    await (await paying()(`${ORIGIN}/a`)).text();
    await until(() => book.metered.requests()[0]?.state === "refused");
    const [{ id, proof }] = book.metered.requests() as [ReturnType<typeof book.metered.requests>[0]];
    expect([proof?.receipts?.length, proof?.terms?.length]).to.deep.equal([1, 1]);
    const last = writes.filter((keys) => keys.includes(`prepaid/metered/${id}`)).at(-1)!;
    expect(last.some((key) => key.startsWith("prepaid/origin/"))).to.equal(true);
  });

  it("is not paid if its 402 names terms of another origin or of a later month", async () => {
    for (const change of [
      { origin: "https://other.example" },
      { firstEpoch: scene.merchant.laterEpoch(1), receiptKeys: scene.merchant.terms[0]!.terms.receiptKeys },
    ]) {
      const signed = await scene.merchant.signTerms(change);
      await book.metered.pin([signed]);
      const honest = scene.merchant.terms;
      scene.merchant.terms = [signed];
      await expectRejected("PREPAID_TERMS_REFUSED", () => paying()(`${ORIGIN}/a`));
      scene.merchant.terms = honest;
    }
    expect([await scene.paid(), scene.merchant.used.size]).to.deep.equal([0n, 0]);
  });

  it("claims what an earlier process left open only at a random time, and not in a program that may end at once", async () => {
    scene = await MeteredWorld.open({ seed: SEED });
    book = await prepaidBookOf(scene.payer.store);
    noChange("METERED_RUNNING");
    await (await paying()(`${ORIGIN}/a`)).text();
    await owed(1);
    const left = await copyOf(scene.payer.store);
    for (const changes of [{ buy: false }, { buy: true, random: () => 0.5 }]) {
      const payer = await scene.world.wallet({ seed: SEED, store: await copyOf(left) });
      scene.merchant.misbehave = () => undefined;
      await openPrepaid(scene.merchant.fetch, payer, scene.options(settings(changes)));
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect((await prepaidBookOf(payer.store)).metered.requests()[0]?.state).to.equal("shown");
    }
  });

  it("does not give up the tokens of a swap before their month has ended", async () => {
    scene.merchant.units = {};
    for (let i = 1; i <= 2; i += 1) {
      await (await paying({ buyAfter: 1_000 })(`${ORIGIN}/${i}`)).text();
      await charged(i);
    }
    scene.merchant.misbehave = ({ target }) =>
      target === PREPAID_SWAP_PATH ? Response.json({ code: "METERED_ENDED" }, { status: 410 }) : undefined;
    const { metered } = await openPrepaid(scene.merchant.fetch, scene.payer, scene.options(settings()));
    expect((await metered.swaps.swap(ORIGIN)).kind).to.equal("pending");
    await assertConserved();
    const copy = await copyOf(scene.payer.store);
    scene.merchant.misbehave = () => undefined;
    expect((await metered.swaps.swap(ORIGIN)).kind).to.equal("done");
    await assertConserved();
    expect((await copy.list("prepaid/swap/")).length).to.equal(1);
  });

  it("journals a swap only after its keys are compared", async () => {
    scene.merchant.units = {};
    for (let i = 1; i <= 2; i += 1) {
      await (await paying({ buyAfter: 1_000 })(`${ORIGIN}/${i}`)).text();
      await charged(i);
    }
    const before = held();
    const mirrors = ["https://mirror.example/zk"];
    const { metered } = await openPrepaid(scene.merchant.fetch, scene.payer, scene.options(settings({ mirrors })));
    expect(metered.swaps.isUseful(ORIGIN)).to.equal(true);
    expect((await metered.swaps.swap(ORIGIN)).kind).to.equal("pending");
    expect([book.metered.swaps(), held()]).to.deep.equal([[], before]);
  });

  it("ends a restored pack whose token is refused, and checks the receipt of a restored token", async () => {
    await scene.buy();
    const pack = await book.putPack({ ...book.packs(ORIGIN)[0]!, restored: true });
    scene.merchant.forge = (receipt) => ({ ...receipt, token: `0x${"11".repeat(32)}` });
    await (await paying({ buy: false })(`${ORIGIN}/b`)).text();
    await until(() => book.origin(ORIGIN).stopped !== null);
    expect(await stops()).to.equal("PREPAID_RECEIPT_INVALID");
    await book.resume(ORIGIN);
    scene.merchant.misbehave = async (seen) =>
      seen.headers.has("x-payment-token") ? Response.json({ error: "no" }, { status: 402 }) : undefined;
    await expectRejected("PREPAID_TOKEN_REFUSED", () => paying({ buy: false })(`${ORIGIN}/a`));
    expect([book.left(pack), await stops()]).to.deep.equal([0, undefined]);
  });

  it("accepts a receipt although 101 terms of other months are pinned", async () => {
    const receiptKeys = scene.merchant.terms[0]!.terms.receiptKeys.slice(0, 1);
    const later = Array.from({ length: 101 }, (_, i) =>
      scene.merchant.signTerms({ firstEpoch: scene.merchant.laterEpoch(i + 6), receiptKeys }),
    );
    await book.metered.pin(await Promise.all(later));
    const [own] = scene.merchant.terms;
    await book.metered.pin([own!]);
    await (await paying()(`${ORIGIN}/a`)).text();
    expect(await charged(1)).to.deep.equal([3n]);
  });

  it("keeps no terms of other wallets or earlier months, and at most 24 of one", async () => {
    const [own] = scene.merchant.terms;
    const other = await MeteredWorld.open({}, scene.world);
    scene.merchant.terms = [own!, other.merchant.terms[0]!];
    await expectRejected("PREPAID_TERMS_REFUSED", () => paying()(`${ORIGIN}/a`));
    expect(book.metered.allTerms()).to.have.length(1);
    // Nor those of months whose receipts cannot be asked for any more.
    const firstEpoch = scene.merchant.laterEpoch(-5);
    scene.merchant.terms = [own!, await scene.merchant.signTerms({ firstEpoch })];
    await expectRejected("PREPAID_TERMS_REFUSED", () => paying()(`${ORIGIN}/a`));
    expect(book.metered.allTerms()).to.have.length(1);
    const routes = (i: number) => [{ method: "POST", path: `/${i}`, rule: RULE }];
    await book.metered.pin(
      await Promise.all(Array.from({ length: 23 }, (_, i) => scene.merchant.signTerms({ routes: routes(i) }))),
    );
    scene.merchant.terms = [await scene.merchant.signTerms({ routes: [{ method: "GET", path: "/b", rule: RULE }] })];
    await expectRejected("PREPAID_TERMS_REFUSED", () => paying()(`${ORIGIN}/b`));
  });
});
