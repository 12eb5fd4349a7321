// Metered credit at a paywall: one token in, an exact charge, change for the rest, and swaps, in both databases.
import { hash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { expectCode, expectRejected } from "@sotto/test-kit/rejection";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import type { Kysely } from "kysely";
import {
  changeOf,
  contradictions,
  decodeMeteredOffer,
  encodeSignedTerms,
  meteredRuleHash,
  meteredTermsDigest,
  PREPAID_CHANGE_PATH,
  PREPAID_SWAP_PATH,
  PREPAID_TERMS_PATH,
  parseTermsAnswer,
  receiptKeyOf,
  tokenIdHash,
  verifyReceipt,
} from "../../src/index.ts";
import { auditStore } from "../../src/server/metered/audit.ts";
import { metered } from "../../src/server/metered/price.ts";
import type { PrepaidSchema } from "../../src/server/schema.ts";
import { PrepaidStore } from "../../src/server/store.ts";
import { Thread } from "../../src/server/thread.ts";
import { createMerchant, openServer, type PrepaidServer, show, told } from "./support/merchant.ts";
import {
  blind,
  blindChange,
  buy,
  CAP,
  claim,
  claimBody,
  claimed,
  end,
  METERED_VALUES,
  meteredOptions,
  type Owned,
  post,
  RULE_HASH,
  SECRETS,
  showMetered,
  spendMetered,
  startMetered,
  swap,
  swapBody,
  swapSignatures,
  TERMS,
} from "./support/metered.ts";
import { inDatabase, overStores } from "./support/store.ts";

const merchant = await createMerchant({}, METERED_VALUES);
const DECEMBER = receiptKeyOf(SECRETS[1]!);
const WRITES = /^\s*(?:with|insert|update|delete)/i;
const statusOf = ({ status, code }: { status: number; code: string | undefined }) =>
  code === undefined ? String(status) : `${status} ${code}`;

/** Runs an action in this turn of the event loop, after those with a lower place. */
async function inTurn<T>(place: number, action: () => Promise<T>): Promise<T> {
  for (let i = 0; i < 200 * place; i++) await undefined;
  return action();
}

/** Lets several claims and swaps wait for each other after their messages are signed, so that they are stored together. */
function meet(servers: readonly PrepaidServer[], count: number): void {
  const waiting: (() => void)[] = [];
  for (const { signer } of servers.map(({ prepaid }) => prepaid)) {
    const { sign } = signer;
    signer.sign = async (...parts) => {
      const signatures = await sign.apply(signer, parts);
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length === count) for (const go of waiting) go();
      });
      return signatures;
    };
  }
}

overStores("metered credit", (newUrl) => {
  let url: string;
  let folder: string;
  let server: PrepaidServer;
  const opened: PrepaidServer[] = [];
  const open = async (changes: object = {}, guard = `guard-${opened.length}`) => {
    const options = meteredOptions(merchant, url, join(folder, guard));
    const another = await openServer({ ...options, ...changes });
    opened.push(another);
    return another;
  };
  const close = async () => {
    for (const one of opened.splice(0)) await one.close();
  };
  /** Runs statements beside the server. */
  const inStore = <T>(action: (db: Kysely<PrepaidSchema>) => Promise<T>): Promise<T> => inDatabase(url, action);
  /** Runs an action while the answers to spending commits are lost. */
  const losingAnswers = async <T>(action: () => Promise<T>): Promise<T> => {
    const lost = new Error("the answer was lost");
    const [{ spend }, { run }] = [PrepaidStore.prototype, Thread.prototype];
    if (url.startsWith("sqlite:"))
      Thread.prototype.run = async function (order) {
        await run.call(this, order);
        throw lost;
      };
    else
      PrepaidStore.prototype.spend = async function (...parts) {
        await spend.apply(this, parts);
        throw lost;
      };
    try {
      return await action();
    } finally {
      PrepaidStore.prototype.spend = spend;
      Thread.prototype.run = run;
    }
  };
  beforeEach(async () => {
    url = await newUrl();
    folder = temporaryFolder("metered");
    server = await open();
  });
  afterEach(close);

  it("charges what a request used, and signs change that pays like any token", async () => {
    const [owned] = await buy(server, 1);
    const { decision, payment, meter } = await startMetered(server, owned!);
    expect(payment).to.include({ amount: CAP, key: owned!.token.keyId, rule: RULE_HASH });
    expect(meter.add({ input: 1_200, output: 1_000n })).to.equal(true);
    expect([meter.charge, meter.left]).to.deep.equal([3_000n, 7_000n]);
    await end(decision);
    const blinded = blindChange(server, 3_000n);
    const { epoch, receipt, signatures } = await claimed(server, owned!, blinded.batch);
    expect(epoch).to.equal("2026-12");
    expect(verifyReceipt(receipt, DECEMBER)).to.equal(true);
    expect(receipt.receipt).to.deep.include({
      ...{ method: "POST", target: "/chat", rule: RULE_HASH, epoch: "2026-12" },
      ...{ charge: 3_000n, change: 7_000n, units: { input: 1_200n, output: 1_000n } },
      token: tokenIdHash(owned!.token),
    });
    expect(contradictions([receipt], [TERMS])).to.deep.equal([]);
    const change = blinded.finish(signatures!);
    expect(changeOf(TERMS.routes[0]!.rule, 3_000n)).to.deep.equal([5_000n, 2_000n]);
    expect(change).to.have.length(2);
    const [thousand] = await buy(server, 1, { value: 1_000n });
    expect(told(await show(server, thousand!.token, { target: "/cheap" }))).to.equal("paid");
    const events = server.events.filter(({ event }) => ["redeemed", "charged", "claimed"].includes(event));
    expect(events.map(({ event, charge }) => [event, charge])).to.deep.equal([
      ["redeemed", undefined],
      ["charged", 3_000n],
      ["claimed", 3_000n],
      ["redeemed", undefined],
    ]);
  });

  it("offers a token of the cap's value, and never one of the exact price", async () => {
    const ask = (target: string) => server.paywall.decide({ method: "POST", target, header: () => [] });
    const decision = await ask("/chat");
    if (decision.kind !== "refused") throw new Error(decision.kind);
    const { payment } = decision.body as { payment: Record<string, unknown> };
    expect(payment).to.not.have.property("prepaid");
    expect(decodeMeteredOffer(payment["metered"])).to.deep.equal({
      ...{ cap: CAP, rule: RULE_HASH, terms: meteredTermsDigest(TERMS) },
      tokenKeyId: server.prepaid.keyring.at(CAP, "2026-12")!.id,
    });
    const other = await ask("/paid");
    if (other.kind !== "refused") throw new Error(other.kind);
    expect((other.body as { payment: object }).payment)
      .to.include.keys("prepaid")
      .and.not.include.keys("metered");
  });

  it("publishes its signed terms", async () => {
    const decision = await server.paywall.decide({ method: "GET", target: PREPAID_TERMS_PATH, header: () => [] });
    if (decision.kind !== "answered") throw new Error(decision.kind);
    expect(decision.headers["cache-control"]).to.equal("public, max-age=300");
    const [signed] = parseTermsAnswer(new TextDecoder().decode(decision.body));
    expect(meteredTermsDigest(signed!.terms)).to.equal(meteredTermsDigest(TERMS));
  });

  it("leaves a token unspent if the payer agrees to another rule or to none", async () => {
    const [owned] = await buy(server, 1);
    const other = `0x${"00".repeat(32)}`;
    for (const rule of [[], [other], [RULE_HASH, RULE_HASH], [`${RULE_HASH} `]])
      expect(told(await showMetered(server, owned!, { rule }))).to.equal("402");
    expect(statusOf(await claim(server, owned!))).to.equal("404 METERED_UNKNOWN");
    expect(told(await showMetered(server, owned!))).to.equal("paid");
  });

  it("takes tokens of the cap's value only", async () => {
    const [five] = await buy(server, 1, { value: 5_000n });
    expect(told(await showMetered(server, five!))).to.equal("402");
  });

  it("charges nothing for a failed response unless the handler keeps the charge, and never opens the token again", async () => {
    const [failed, kept, unstarted] = await buy(server, 3);
    await spendMetered(server, failed!, { input: 4_000 }, 500);
    await spendMetered(server, unstarted!, { input: 4_000 }, "unstarted");
    const { decision, meter } = await startMetered(server, kept!);
    meter.add({ input: 4_000 });
    meter.keep();
    await end(decision, 503);
    const charges = [];
    for (const owned of [failed!, unstarted!, kept!])
      charges.push((await claimed(server, owned)).receipt.receipt.charge);
    expect(charges).to.deep.equal([0n, 0n, 5_000n]);
    for (const owned of [failed!, unstarted!, kept!]) {
      expect(told(await showMetered(server, owned))).to.equal("402");
      expect(told(await show(server, owned.token))).to.equal("402");
    }
  });

  it("charges a client that leaves for what was counted", async () => {
    const [owned] = await buy(server, 1);
    const { decision, meter } = await startMetered(server, owned!);
    meter.add({ output: 1_000 });
    await end(decision, "aborted");
    expectCode("METER_ENDED", () => meter.add({ output: 1 }));
    expectCode("METER_ENDED", () => meter.keep());
    await expectRejected("METER_ENDED", () => meter.checkpoint());
    expect((await claimed(server, owned!)).receipt.receipt).to.include({ charge: 2_000n, change: 8_000n });
  });

  it("never charges more than the cap, and says when it is reached", async () => {
    const [owned] = await buy(server, 1);
    const { decision, meter } = await startMetered(server, owned!);
    expect(meter.add({ input: 8_000 })).to.equal(true);
    expect(meter.add({ input: 50_000 })).to.equal(false);
    for (const units of [{ input: Number.NaN }, { input: -1 }, { input: 0.5 }, { input: 2n ** 64n }])
      expectCode("INVALID_INTEGER", () => meter.add(units));
    expectCode("INVALID_ARGUMENT", () => meter.add({ other: 1 }));
    await end(decision);
    const answer = await claimed(server, owned!);
    expect(answer.receipt.receipt).to.deep.include({ charge: CAP, change: 0n, units: { input: 58_000n } });
    expect(statusOf(await claim(server, owned!, blind(server, [1_000n]).batch))).to.equal(
      "400 METERED_REQUEST_INVALID",
    );
  });

  it("makes a claim wait for the end of its request", async () => {
    const [owned] = await buy(server, 1);
    const { decision, meter } = await startMetered(server, owned!);
    const blinded = blindChange(server, 1_000n);
    const early = await claim(server, owned!, blinded.batch);
    expect([statusOf(early), early.retryAfter]).to.deep.equal(["409 METERED_RUNNING", "5"]);
    meter.add({ input: 500 });
    await decision.finish(200);
    void decision.ended?.("complete");
    const { signatures } = await claimed(server, owned!, blinded.batch);
    expect(blinded.finish(signatures!)).to.have.length(3);
  });

  it("takes the last checkpoint for final once the request's deadline has passed", async () => {
    const [stored, none] = await buy(server, 2);
    const { decision, meter } = await startMetered(server, stored!);
    await startMetered(server, none!);
    meter.add({ input: 1_500 });
    await Promise.all([meter.checkpoint(), meter.checkpoint()]);
    meter.add({ input: 5_000 });
    await inStore((db) => db.updateTable("prepaid_metered").set({ deadline: 1 }).execute());
    expect((await claimed(server, stored!)).receipt.receipt).to.include({ charge: 2_000n });
    expect((await claimed(server, none!)).receipt.receipt).to.deep.include({ charge: 0n, units: {} });
    await end(decision);
    expect((await claimed(server, stored!)).receipt.receipt).to.include({ charge: 2_000n });
    await expectRejected("METER_ENDED", () => meter.checkpoint());
    const late = server.events.filter(
      ({ event, error }) => event === "trouble" && /last checkpoint/.test(String(error)),
    );
    expect(late).to.have.length(1);
  });

  it("reports a charge as stored if the answer to its commit was lost, and replaces none", async () => {
    const [owned] = await buy(server, 1);
    const { decision, meter } = await startMetered(server, owned!);
    const { redemption } = server.prepaid;
    const { update } = redemption;
    const sent: Parameters<typeof update>[0][] = [];
    redemption.update = async (updates) => {
      const stored = await update.call(redemption, updates);
      if (sent.push(updates) === 1) throw new Error("the answer is lost");
      return stored;
    };
    const before = server.events.length;
    meter.add({ input: 1_500 });
    await end(decision);
    redemption.update = update;
    const events = server.events.slice(before);
    expect(events.filter(({ event }) => event === "charged")).to.have.length(1);
    expect(events.filter(({ error }) => /last checkpoint/.test(String(error)))).to.have.length(0);
    const [final] = sent.at(-1)!;
    for (const other of [{ charge: "3000" }, { units: "{}" }, { ends: false }, { holder: "other" }])
      expect(await redemption.update([{ ...final!, ...other }]), JSON.stringify(other)).to.deep.equal([false]);
    expect((await claimed(server, owned!)).receipt.receipt).to.include({ charge: 2_000n });
  });

  it("ends a request by its deadline also if the commit that spent its token was slow", async () => {
    const brief = await open({ metered: { ...meteredOptions(merchant, url, "").metered!, maxSeconds: 5 } });
    const [owned] = await buy(brief, 1);
    const { redemption } = brief.prepaid;
    const { redeemMetered } = redemption;
    redemption.redeemMetered = async (...parts) => {
      const spent = await redeemMetered.apply(redemption, parts);
      await sleep(2_000);
      return spent;
    };
    const { meter } = await startMetered(brief, owned!);
    meter.add({ input: 1_500 });
    // The request may run for three seconds, and two of them have passed.
    await sleep(1_500);
    expectCode("METER_ENDED", () => meter.add({ input: 1 }));
    expect((await claimed(brief, owned!)).receipt.receipt).to.include({ charge: 2_000n });
  });

  it("ends a failed response while the store does not answer, and stores its charge later", async () => {
    const [owned] = await buy(server, 1);
    const { decision } = await startMetered(server, owned!);
    const { redemption } = server.prepaid;
    const { update } = redemption;
    let isAway = true;
    redemption.update = async (...parts) => {
      if (isAway) throw new Error("the store does not answer");
      return update.apply(redemption, parts);
    };
    const began = performance.now();
    await decision.finish(500);
    expect(performance.now() - began).to.be.lessThan(900);
    expect(statusOf(await claim(server, owned!))).to.equal("409 METERED_RUNNING");
    isAway = false;
    expect((await claimed(server, owned!)).receipt.receipt).to.include({ charge: 0n, change: CAP });
  });

  it("sends no signature before the guard is on disk, however often it is asked for", async () => {
    mkdirSync(join(folder, "guards"));
    const guarded = await open({}, "guards/guard");
    const [owned] = await buy(guarded, 1);
    await spendMetered(guarded, owned!, { input: 3_000 });
    const { batch } = blindChange(guarded, 4_000n);
    rmSync(join(folder, "guards"), { recursive: true });
    for (let i = 0; i < 3; i++)
      expect(statusOf(await claim(guarded, owned!, batch))).to.equal("503 PREPAID_UNAVAILABLE");
    mkdirSync(join(folder, "guards"));
    expect(statusOf(await claim(guarded, owned!, batch))).to.equal("200");
    expect(existsSync(join(folder, "guards/guard"))).to.equal(true);
  });

  it("closes its keys in the store each time that the store is restored", async () => {
    for (let i = 0; i < 2; i++) {
      await inStore(async (db) => {
        await db.deleteFrom("prepaid_closed").execute();
        await db.updateTable("prepaid_progress").set({ ticks: 0 }).execute();
      });
      await server.prepaid.tick();
      const closed = await server.prepaid.store.closed();
      expect(closed).to.include(server.prepaid.keyring.at(CAP, "2026-11")!.id);
    }
  });

  it("commits no second batch to a store that was restored", async () => {
    const [owned] = await buy(server, 1);
    const fives = await buy(server, 2, { value: 5_000n });
    await spendMetered(server, owned!, { input: 3_000 });
    const first = blind(server, [CAP]);
    expect(statusOf(await swap(server, fives, first))).to.equal("200");
    await inStore(async (db) => {
      await db.deleteFrom("prepaid_swap").execute();
      await db.deleteFrom("prepaid_token").execute();
      await db.updateTable("prepaid_progress").set({ ticks: 0 }).execute();
    });
    if (url.startsWith("sqlite:")) meet([server], 2);
    const answers = await Promise.all([
      swap(server, fives, blind(server, [CAP])),
      claim(server, owned!, blindChange(server, 4_000n).batch),
    ]);
    // In PostgreSQL, each has a transaction of its own. If the second one begins after the first has closed the keys, it finds them closed.
    const [later, ...others] = answers.map(statusOf).sort().reverse();
    expect(later).to.equal("503 PREPAID_UNAVAILABLE");
    const refusals = ["503 PREPAID_UNAVAILABLE", ...(url.startsWith("sqlite:") ? [] : ["410 METERED_ENDED"])];
    expect(others).to.have.length(1);
    expect(refusals).to.include(others[0]);
    const rows = await inStore(async (db) => [
      await db.selectFrom("prepaid_swap").select("hash").execute(),
      await db.selectFrom("prepaid_token").select("nonce").execute(),
      await db.selectFrom("prepaid_metered").select("nonce").where("batch", "is not", null).execute(),
    ]);
    expect(rows).to.deep.equal([[], [], []]);
    expect(server.prepaid.keyring.isClosed(server.prepaid.keyring.at(CAP, "2026-11")!.id)).to.equal(true);
  });

  it("repeats no swap whose new tokens were closed", async () => {
    const fives = await buy(server, 2, { value: 5_000n });
    const blinded = blind(server, [CAP]);
    expect(statusOf(await swap(server, fives, blinded))).to.equal("200");
    server.prepaid.keyring.close([server.prepaid.keyring.at(CAP, "2026-12")!.id]);
    expect(statusOf(await swap(server, fives, blinded))).to.equal("410 METERED_ENDED");
  });

  it("signs nothing with a key that another server closed", async () => {
    const [owned] = await buy(server, 1);
    const fives = await buy(server, 2, { value: 5_000n });
    const ones = await buy(server, 2, { value: 1_000n });
    await spendMetered(server, owned!, { input: 3_000 });
    const keys = [1_000n, CAP].map((value) => server.prepaid.keyring.at(value, "2026-12")!.id);
    await server.prepaid.store.close(keys, "operator");
    // No token was spent: a client would take METERED_SPENT for a lie.
    expect(statusOf(await swap(server, fives, blind(server, [CAP])))).to.equal("410 METERED_ENDED");
    expect(statusOf(await swap(server, ones, blind(server, [2_000n])))).to.equal("410 METERED_ENDED");
    expect(statusOf(await claim(server, owned!, blindChange(server, 4_000n).batch))).to.equal("410 METERED_ENDED");
    const rows = await inStore(async (db) => [
      await db.selectFrom("prepaid_swap").select("hash").execute(),
      await db.selectFrom("prepaid_metered").select("nonce").where("receipt", "is not", null).execute(),
    ]);
    expect(rows).to.deep.equal([[], []]);
  });

  it("refuses swaps of spent tokens and claims of unknown keys before it signs or writes", async () => {
    const fives = await buy(server, 2, { value: 5_000n });
    expect(statusOf(await swap(server, fives, blind(server, [CAP])))).to.equal("200");
    const [owned] = await buy(server, 1);
    const unknown = { ...owned!, token: { ...owned!.token, keyId: `0x${"ab".repeat(32)}` as const } };
    const { signer } = server.prepaid;
    const { sign } = signer;
    let signed = 0;
    signer.sign = (...parts) => {
      signed += 1;
      return sign.apply(signer, parts);
    };
    let before = server.queries.length;
    expect(statusOf(await swap(server, fives, blind(server, [CAP])))).to.equal("409 METERED_SPENT");
    expect(server.queries.slice(before).filter((query) => WRITES.test(query))).to.deep.equal([]);
    expect(signed).to.equal(0);
    before = server.queries.length;
    expect(statusOf(await claim(server, unknown))).to.equal("404 METERED_UNKNOWN");
    expect(server.queries.slice(before)).to.deep.equal([]);
  });

  it("signs once for several batches of one token that are shown at once", async () => {
    const [owned] = await buy(server, 1);
    await spendMetered(server, owned!, { input: 3_000 });
    const { signer } = server.prepaid;
    const { sign } = signer;
    let signed = 0;
    signer.sign = (...parts) => {
      signed += 1;
      return sign.apply(signer, parts);
    };
    const batches = [0, 1, 2, 3].map(() => blindChange(server, 4_000n).batch);
    const answers = await Promise.all(batches.map((batch) => claim(server, owned!, batch)));
    expect(answers.map(statusOf).sort()).to.deep.equal(["200", ...new Array(3).fill("409 METERED_BATCH_OTHER")]);
    // One call for all values of the change.
    expect(signed).to.equal(1);
  });

  it("answers the same batch with the same bytes a few times, and signs no other", async () => {
    const [owned] = await buy(server, 1);
    await spendMetered(server, owned!, { input: 3_000 });
    const { batch } = blindChange(server, 4_000n);
    const first = await claim(server, owned!, batch);
    expect(statusOf(first)).to.equal("200");
    for (let i = 0; i < 8; i++) expect((await claim(server, owned!, batch)).text).to.equal(first.text);
    const refused = await claim(server, owned!, batch);
    expect(statusOf(refused)).to.equal("503 PREPAID_UNAVAILABLE");
    expect(Number(refused.retryAfter)).to.be.greaterThan(0);
    const other = blindChange(server, 4_000n);
    expect(statusOf(await claim(server, owned!, other.batch))).to.equal("409 METERED_BATCH_OTHER");
    expect((await claimed(server, owned!)).receipt).to.deep.equal((await claimed(server, owned!)).receipt);
  });

  it("signs a batch only for the charge that its claim says, and answers others with the receipt alone", async () => {
    const [owned] = await buy(server, 1);
    await spendMetered(server, owned!, { input: 3_000 });
    // As many tokens as the change has, of other values.
    const wrong = blind(server, [5_000n, 2_000n]);
    const { signatures: none, receipt } = await claimed(server, owned!, wrong.batch, 3_000n);
    expect([none, receipt.receipt.charge]).to.deep.equal([undefined, 4_000n]);
    const right = blindChange(server, 4_000n);
    const { signatures, ...rest } = await claimed(server, owned!, right.batch, 4_000n);
    expect(rest.receipt).to.deep.equal(receipt);
    expect(right.finish(signatures!)).to.have.length(2);
    expect(await claimed(server, owned!, wrong.batch, 3_000n), "after the change was signed").to.not.have.property(
      "signatures",
    );
  });

  it("signs one of two batches that two servers are shown at once", async () => {
    const second = await open();
    for (const owned of await buy(server, 4)) {
      await spendMetered(server, owned, { input: 3_000 });
      const batches = [0, 1, 2, 3].map(() => blindChange(server, 4_000n).batch);
      const answers = await Promise.all(batches.map((batch, i) => claim(i % 2 === 0 ? server : second, owned, batch)));
      expect(answers.map(statusOf).sort()).to.deep.equal(["200", ...new Array(3).fill("409 METERED_BATCH_OTHER")]);
      const winner = answers.findIndex(({ status }) => status === 200);
      expect((await claim(second, owned, batches[winner]!)).text).to.equal(answers[winner]!.text);
    }
  });

  it("counts change once that two servers sign for the same batch at once", async () => {
    const second = await open();
    const [owned] = await buy(server, 1);
    await spendMetered(server, owned!, { input: 3_000 });
    const { batch } = blindChange(server, 4_000n);
    meet([server, second], 2);
    const [first, other] = await Promise.all([server, second].map((one) => claim(one, owned!, batch)));
    expect([statusOf(first!), other!.text]).to.deep.equal(["200", first!.text]);
    const events = [server, second].flatMap((one) => one.events.filter(({ event }) => event === "claimed"));
    expect(events).to.have.length(1);
  });

  it("spends a token once at two servers", async () => {
    const second = await open({ metered: { ...meteredOptions(merchant, url, "").metered!, receiptKeys: undefined } });
    for (const owned of await buy(server, 4)) {
      const decisions = await Promise.all([server, second, server, second].map((one) => showMetered(one, owned)));
      expect(decisions.map(told).sort()).to.deep.equal(["402", "402", "402", "paid"]);
    }
    const [owned] = await buy(server, 1);
    await spendMetered(second, owned!, { input: 1 });
    expect(statusOf(await claim(second, owned!))).to.equal("404 METERED_UNKNOWN");
    expect(statusOf(await claim(server, owned!))).to.equal("200");
  });

  it("refuses claims of others, of another origin, and of another batch, without a write", async () => {
    const [owned, other] = await buy(server, 2);
    await spendMetered(server, owned!, { input: 3_000 });
    const { batch } = blindChange(server, 4_000n);
    const valid = JSON.parse(claimBody(owned!, batch));
    const foreign = JSON.parse(claimBody(other!, batch));
    const before = server.queries.length;
    const send = async (body: unknown) =>
      statusOf(await post(server, PREPAID_CHANGE_PATH, typeof body === "string" ? body : JSON.stringify(body)));
    const invalid = "403 METERED_CLAIM_INVALID";
    expect(await send({ ...valid, publicKey: foreign.publicKey, signature: foreign.signature })).to.equal(invalid);
    expect(await send({ ...valid, signature: foreign.signature })).to.equal(invalid);
    expect(
      await send({ ...valid, batch: JSON.parse(claimBody(owned!, blindChange(server, 4_000n).batch)).batch }),
    ).to.equal(invalid);
    expect(await send(claimBody(owned!, batch, { origin: "https://other.example" }))).to.equal(invalid);
    expect(await send(foreign)).to.equal("404 METERED_UNKNOWN");
    const { batch: _, ...without } = valid;
    expect(await send(without)).to.equal(invalid);
    expect(await send(claimBody(owned!, blind(server, [5_000n]).batch))).to.equal("400 METERED_REQUEST_INVALID");
    expect(await send(claimBody(owned!, new Uint8Array(batch.length).fill(255)))).to.equal(
      "400 METERED_REQUEST_INVALID",
    );
    for (const body of ["", "{}", "[]", "x".repeat(20_000)])
      expect(await send(body)).to.equal("400 METERED_REQUEST_INVALID");
    expect(server.queries.slice(before).filter((query) => WRITES.test(query))).to.deep.equal([]);
    expect(await send(valid)).to.equal("200");
  });

  it("swaps tokens for fewer ones, once, by its recipes only", async () => {
    const fives = await buy(server, 4, { value: 5_000n });
    const blinded = blind(server, [CAP]);
    const first = await swap(server, fives.slice(0, 2), blinded);
    const [ten] = blinded.finish(swapSignatures(first));
    expect((await swap(server, fives.slice(0, 2), blinded)).text).to.equal(first.text);
    expect(told(await showMetered(server, ten!))).to.equal("paid");
    const again = [fives[0]!, fives[2]!];
    expect(statusOf(await swap(server, again, blind(server, [CAP])))).to.equal("409 METERED_SPENT");
    expect(told(await show(server, fives[0]!.token))).to.equal("402");
    // Nothing of a refused swap was spent.
    expect(statusOf(await swap(server, fives.slice(2), blind(server, [CAP])))).to.equal("200");
    const twos = await buy(server, 5, { value: 2_000n });
    const both = blind(server, [5_000n, 5_000n]);
    expect(both.finish(swapSignatures(await swap(server, twos, both)))).to.have.length(2);
  });

  it("refuses swaps that are not one of its own", async () => {
    const [one, two] = await buy(server, 2, { value: 1_000n });
    const [five] = await buy(server, 1, { value: 5_000n });
    const [old] = await buy(server, 1, { value: 1_000n, epoch: "2026-11" });
    const [forged] = await buy(server, 1, { value: 1_000n });
    const wrong = { ...forged!, token: { ...forged!.token, signature: one!.token.signature } };
    const target = blind(server, [2_000n]);
    const invalid = "400 METERED_REQUEST_INVALID";
    expect(statusOf(await swap(server, [one!, five!], target))).to.equal(invalid);
    expect(statusOf(await swap(server, [one!, old!], target))).to.equal(invalid);
    expect(statusOf(await swap(server, [one!, two!], blind(server, [1_000n, 1_000n])))).to.equal(invalid);
    expect(statusOf(await swap(server, [one!, two!], target, "2027-01"))).to.equal(invalid);
    expect(statusOf(await swap(server, [one!, wrong], target))).to.equal("403 METERED_CLAIM_INVALID");
    const twice = swapBody([one!, two!], target).replaceAll(/"tokens":\["([^"]+)","[^"]+"\]/g, '"tokens":["$1","$1"]');
    expect(statusOf(await post(server, PREPAID_SWAP_PATH, twice))).to.equal(invalid);
    expect(statusOf(await swap(server, [one!, two!], target))).to.equal("200");
  });

  it("lets one of two swaps with the same token pass at two servers", async () => {
    const second = await open();
    const fives = await buy(server, 3, { value: 5_000n });
    const answers = await Promise.all([
      swap(server, [fives[0]!, fives[1]!], blind(server, [CAP])),
      swap(second, [fives[1]!, fives[2]!], blind(server, [CAP])),
    ]);
    expect(answers.map(statusOf).sort()).to.deep.equal(["200", "409 METERED_SPENT"]);
  });

  it("commits what arrives together in one transaction of SQLite, and undoes only what fails", async () => {
    const { commits, store } = server.prepaid;
    const idOf = (nonce: string) => ({ keyId: "0x01", nonce });
    const spend = (...nonces: string[]) => {
      const swap = { hash: `0x${nonces.join("")}`, key_id: "0x02", count: 1, signatures: new Uint8Array(1) };
      return commits.swap({ ...swap, tokens: nonces.map(idOf) });
    };
    const ticks = async () => (await store.progress())!.ticks;
    const isSpent = (nonce: string) => store.metered.isSpent([idOf(nonce)]);
    const before = await ticks();
    expect(await Promise.all([spend("a", "b"), spend("c", "a"), spend("d", "e")])).to.deep.equal([
      "made",
      "spent",
      "made",
    ]);
    // PostgreSQL locks rows, in an order that two actions in one transaction would break.
    const committed = before + (store.file === undefined ? 2 : 1);
    expect(await ticks()).to.equal(committed);
    const spent = await Promise.all(["a", "b", "c", "d", "e"].map(isSpent));
    expect(spent).to.deep.equal([true, true, false, true, true]);
    // If all are refused, nothing is written.
    expect(await Promise.all([spend("f", "a"), spend("a", "b")])).to.deep.equal(["spent", "spent"]);
    expect([await ticks(), await isSpent("f")]).to.deep.equal([committed, false]);
    // A token twice, which the endpoint refuses, breaks a constraint of SQLite after the first insert.
    const [, failed] = await Promise.allSettled([spend("g"), spend("h", "h"), spend("i")]);
    if (store.file !== undefined) expect(failed).to.include({ status: "rejected" });
    else expect(failed).to.include({ value: "spent" });
    expect(await Promise.all(["g", "h", "i"].map(isSpent))).to.deep.equal([true, false, true]);
  });

  it("refuses claims and swaps of keys that another server has closed, in their transaction", async () => {
    const { commits, store } = server.prepaid;
    await inStore((db) =>
      db.insertInto("prepaid_closed").values({ key_id: "0x02", reason: "operator", closed_at: 1 }).execute(),
    );
    const before = (await store.progress())!.ticks;
    const swap = { hash: "0x05", key_id: "0x02", count: 1, signatures: new Uint8Array(1) };
    expect(await commits.swap({ ...swap, tokens: [{ keyId: "0x01", nonce: "a" }] })).to.equal("closed");
    expect(await commits.swap({ ...swap, key_id: "0x01", tokens: [{ keyId: "0x02", nonce: "a" }] })).to.equal("closed");
    expect(await commits.claim({ keyId: "0x01", nonce: "a", keyIds: ["0x02"], receipt: "{}" })).to.equal("closed");
    // A charge that is not final has no receipt.
    expect(await commits.claim({ keyId: "0x01", nonce: "a", keyIds: ["0x01"], receipt: "{}" })).to.equal(undefined);
    expect(await store.metered.isSpent([{ keyId: "0x02", nonce: "a" }])).to.equal(false);
    expect((await store.progress())!.ticks).to.equal(before);
  });

  it("spends a token for the first of its requests in one turn, with the rule of that request", async () => {
    const rule = { ...TERMS.routes[0]!.rule, base: 1_500n };
    const options = meteredOptions(merchant, url, "");
    const price = metered({
      cap: CAP,
      grain: 1_000n,
      base: "0.0015",
      units: { output: { price: 600n, per: 1_000 }, input: { price: 1n } },
    });
    const terms = { ...TERMS, routes: [...TERMS.routes, { method: "POST", path: "/draw", rule }] };
    const two = await open({
      routes: [...options.routes!, { path: "/draw", method: "POST", price }],
      metered: { ...options.metered!, terms: [encodeSignedTerms({ terms, signature: `0x${"11".repeat(65)}` })] },
    });
    const plain = (owned: Owned) => show(two, owned.token);
    const chat = (owned: Owned) => showMetered(two, owned);
    const draw = (owned: Owned) => showMetered(two, owned, { rule: [meteredRuleHash(rule)], target: "/draw" });
    for (const shown of [
      [plain, chat],
      [chat, plain],
      [chat, draw],
      [draw, chat],
      [draw, chat, plain],
    ]) {
      const [owned] = await buy(two, 1);
      const [first, ...others] = await Promise.all(shown.map((each, i) => inTurn(i, () => each(owned!))));
      expect([first, ...others].map((decision) => decision!.kind)).to.deep.equal([
        "paid",
        ...others.map(() => "refused"),
      ]);
      if (first?.kind !== "paid") throw new Error("not paid");
      if (first.payment.kind === "metered") first.payment.meter.add({ input: 400 });
      await end(first);
      if (shown[0] === plain) expect(statusOf(await claim(two, owned!))).to.equal("404 METERED_UNKNOWN");
      else {
        const { receipt } = (await claimed(two, owned!)).receipt;
        expect(receipt).to.include(
          shown[0] === chat ? { rule: RULE_HASH, charge: 1_000n } : { rule: meteredRuleHash(rule), charge: 2_000n },
        );
      }
    }
  });

  it("charges what the requests that still run have used when the server closes", async () => {
    const [owned] = await buy(server, 1);
    const { meter } = await startMetered(server, owned!);
    meter.add({ input: 1_500 });
    await close();
    server = await open();
    expect((await claimed(server, owned!)).receipt.receipt).to.include({ charge: 2_000n });
  });

  it("charges nothing if the answer to the spending commit was lost", async () => {
    const [owned] = await buy(server, 1);
    expect(await losingAnswers(async () => told(await showMetered(server, owned!)))).to.equal("402 later");
    expect(told(await showMetered(server, owned!))).to.match(/^402/);
    await close();
    server = await open();
    expect((await claimed(server, owned!)).receipt.receipt).to.include({ charge: 0n, change: CAP });
  });

  it("does not open a metered token again for a plain request whose batch failed with it", async () => {
    const [owned] = await buy(server, 1);
    const restored = await losingAnswers(async () => {
      const decisions = await Promise.all([showMetered(server, owned!), inTurn(1, () => show(server, owned!.token))]);
      return decisions.map(told);
    });
    expect(restored).to.deep.equal(["402 later", "402 later"]);
    const [row] = await inStore((db) => db.selectFrom("prepaid_token").selectAll().execute());
    const { keyId } = owned!.token;
    await server.prepaid.store.restore({ keyId, nonce: row!.nonce, opens: "GET /paid" }, row!.holder);
    expect(told(await show(server, owned!.token))).to.match(/^402/);
    await inStore((db) =>
      db
        .updateTable("prepaid_token")
        .set({ returned_for: hash("sha256", "GET /paid", "base64url") })
        .execute(),
    );
    expect(told(await show(server, owned!.token))).to.match(/^402/);
    expect((await claimed(server, owned!)).receipt.receipt).to.include({ charge: 0n, change: CAP });
  });

  it("adds up, and notices what does not", async () => {
    const tens = await buy(server, 4);
    await spendMetered(server, tens[0]!, { input: 3_000 });
    await spendMetered(server, tens[1]!, { input: 1_500 });
    await startMetered(server, tens[2]!);
    const blinded = blindChange(server, 4_000n);
    const change = blinded.finish((await claimed(server, tens[0]!, blinded.batch)).signatures!);
    const [five] = await buy(server, 1, { value: 5_000n });
    expect(statusOf(await swap(server, [five!, change[0]!], blind(server, [CAP])))).to.equal("200");
    const audit = await auditStore(server.prepaid.store, server.prepaid.keyring.all);
    const totals = {
      ...{ charged: 6_000n, changeSigned: 6_000n, changeClaimable: 8_000n, running: 10_000n, swapped: 10_000n },
    };
    expect(audit).to.include(totals);
    expect(await server.credit!.totals()).to.deep.equal(totals);
    // After its deadline, the request that runs costs its last checkpoint, also if nobody claims it.
    await inStore((db) =>
      db.updateTable("prepaid_metered").set({ deadline: 1 }).where("state", "=", "running").execute(),
    );
    expect(await server.credit!.totals()).to.deep.equal({ ...totals, changeClaimable: 18_000n, running: 0n });
    const ofValue = (value: bigint) => audit.keys.find((key) => key.value === value);
    expect(ofValue(1_000n)).to.include({ change: 1_000n, unspent: 1_000n });
    expect(ofValue(5_000n)).to.include({ change: 5_000n, swappedOut: 10_000n });
    expect(ofValue(10_000n)).to.include({ metered: 30_000n, swappedIn: 10_000n });
    // The tokens were signed without a sale, which the sums show.
    expect(audit.problems).to.deep.equal([
      "1 more tokens of 5000 in 2026-12 were spent than signed",
      "2 more tokens of 10000 in 2026-12 were spent than signed",
    ]);
    await inStore((db) =>
      db.updateTable("prepaid_metered").set({ charge: "99000" }).where("state", "=", "running").execute(),
    );
    const { problems } = await auditStore(server.prepaid.store, server.prepaid.keyring.all);
    expect(problems).to.include("requests that were charged 99000, more than their cap 10000: 1");
    await inStore((db) =>
      db.updateTable("prepaid_metered").set({ charge: "1500" }).where("batch", "is not", null).execute(),
    );
    const ofSigned = await auditStore(server.prepaid.store, server.prepaid.keyring.all);
    expect(ofSigned.problems).to.include(
      "requests that were charged 1500, which is not a multiple of their grain 1000: 1",
    );
    await inStore((db) =>
      db
        .updateTable("prepaid_metered")
        .set({ charge: "6000", state: "running" })
        .where("batch", "is not", null)
        .execute(),
    );
    for (const deadline of [Date.now() + 86_400_000, 1]) {
      await inStore((db) =>
        db.updateTable("prepaid_metered").set({ deadline }).where("batch", "is not", null).execute(),
      );
      const early = await auditStore(server.prepaid.store, server.prepaid.keyring.all);
      expect(early.problems).to.include("requests whose change was signed while they run: 1");
    }
    await server.close();
    expect(Object.values(await server.credit!.totals())).to.deep.equal([0n, 0n, 0n, 0n, 0n]);
  });

  it("adds up after the tokens of a closed key were deleted", async () => {
    const [owned] = await buy(server, 1);
    await spendMetered(server, owned!, { input: 3_000 });
    await inStore((db) =>
      db
        .insertInto("prepaid_closed")
        .values({ key_id: owned!.token.keyId, reason: "operator", closed_at: 1 })
        .execute(),
    );
    await server.prepaid.store.sweep();
    const audit = await auditStore(server.prepaid.store, server.prepaid.keyring.all);
    expect(audit.problems).to.deep.equal([]);
    expect(audit.keys).to.have.length(1);
    expect(audit.keys[0]).to.include({ metered: CAP, redeemed: 0n, unspent: 0n });
  });

  it("deletes rows once their keys are closed and their change has ended, some at a time", async () => {
    const [ended, later] = await buy(server, 2);
    await spendMetered(server, ended!, { input: 3_000 });
    await spendMetered(server, later!, { input: 3_000 });
    const { keyId } = ended!.token;
    await inStore(async (db) => {
      const nonce = Buffer.from(ended!.token.nonce.slice(2), "hex").toString("base64url");
      await db.updateTable("prepaid_metered").set({ change_epoch: "2020-01" }).where("nonce", "=", nonce).execute();
      const signed = { key_id: keyId, count: 1, spent: "[]", signatures: new Uint8Array() };
      const swaps = Array.from({ length: 5_001 }, (_, i) => ({ hash: String(i), ...signed }));
      await db.insertInto("prepaid_swap").values(swaps).execute();
    });
    const sweep = async () => {
      await server.prepaid.store.sweep();
      return inStore(async (db) => [
        (await db.selectFrom("prepaid_metered").select("nonce").execute()).length,
        (await db.selectFrom("prepaid_swap").select("hash").execute()).length,
      ]);
    };
    expect(await sweep()).to.deep.equal([2, 5_001]);
    const closed = { key_id: keyId, reason: "ended", closed_at: 1 } as const;
    await inStore((db) => db.insertInto("prepaid_closed").values(closed).execute());
    expect(await sweep()).to.deep.equal([1, 1]);
    expect(await sweep()).to.deep.equal([1, 0]);
  });

  it("does not sign change without a guard", async () => {
    const options = meteredOptions(merchant, url, "");
    const { guard: _, ...prepaid } = options.prepaid;
    await expectRejected("INVALID_OPTION", () => openServer({ ...options, prepaid }));
  });
});

describe("a SQLite store with metered credit", () => {
  let folder: string;
  let server: PrepaidServer | undefined;
  const path = () => join(folder, "tokens.sqlite");
  const open = async () => {
    server = await openServer(meteredOptions(merchant, `sqlite:${path()}`, join(folder, "guard")));
    return server;
  };
  const close = async () => {
    await server?.close();
    server = undefined;
  };
  beforeEach(() => {
    folder = temporaryFolder("metered");
  });
  afterEach(close);

  it("stores a charge after another process locked it, and spends no token for a request that it refused", async () => {
    await open();
    const [running, refused] = await buy(server!, 2);
    const { decision, meter } = await startMetered(server!, running!);
    meter.add({ input: 1_500 });
    const lock = new DatabaseSync(path());
    lock.exec("begin immediate");
    const ended = end(decision);
    // Longer than the thread waits for the lock: the charge and the token are in one transaction.
    expect(told(await showMetered(server!, refused!))).to.equal("402 later");
    lock.exec("rollback");
    lock.close();
    await ended;
    expect((await claimed(server!, running!)).receipt.receipt).to.include({ charge: 2_000n });
    await spendMetered(server!, refused!, { input: 500 });
    expect((await claimed(server!, refused!)).receipt.receipt).to.include({ charge: 1_000n });
  });

  it("signs no second batch for a claim or swap that it forgot after it was restored", async () => {
    const before = await open();
    const [owned] = await buy(before, 1);
    const fives = await buy(before, 2, { value: 5_000n });
    await spendMetered(before, owned!, { input: 3_000 });
    await before.prepaid.tick();
    await close();
    cpSync(path(), `${path()}.backup`);
    const after = await open();
    expect(statusOf(await claim(after, owned!, blindChange(after, 4_000n).batch))).to.equal("200");
    expect(statusOf(await swap(after, fives, blind(after, [CAP])))).to.equal("200");
    await close();
    for (const suffix of ["", "-wal", "-shm"]) rmSync(path() + suffix, { force: true });
    cpSync(`${path()}.backup`, path());
    const restored = await open();
    expect(statusOf(await claim(restored, owned!, blindChange(restored, 4_000n).batch))).to.equal("410 METERED_ENDED");
    expect(statusOf(await swap(restored, fives, blind(restored, [CAP])))).to.equal("410 METERED_ENDED");
    expect(restored.events.some(({ reason }) => reason === "PREPAID_STORE_RESTORED")).to.equal(true);
  });
});
