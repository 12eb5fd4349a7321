// Purchases whose deadline passes, whose note is spent elsewhere, or whose proof becomes too old. The chain is in memory,
// so that tests can set its clock; test/client pays on a real chain.
import { MAX_PAYMENT_TOKEN_LENGTH, parseProofHeader, paymentSignals, type WireBundle } from "@sotto/protocol";
import { rejection } from "@sotto/test-kit/rejection";
import { MemoryStore, type Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { LocalService } from "../../wallet/test/support/local-service.ts";
import { SEED, start } from "../../wallet/test/support/merchant.ts";
import type { World } from "../../wallet/test/support/world.ts";
import { dismissPurchase, openPurchases } from "../src/purchase/open.ts";
import type { PurchaseStage } from "../src/purchase/progress.ts";
import { type KeyedRequest, purchase } from "../src/purchase/purchase.ts";
import { prepareNotes } from "../src/purchase/split.ts";

const AWAY = () => {
  throw new TypeError("fetch failed");
};
/** Longer than the validity of any payment, seconds. */
const AN_AGE = 400;

describe("a purchase", () => {
  let world: World;
  let payer: Wallet;
  let merchant: Wallet;
  let service: LocalService;
  let request: KeyedRequest;
  const store = () => payer.store;

  async function open(amounts: bigint[]) {
    const started = await start(amounts, { store: new MemoryStore() });
    ({ world, payer, merchant } = started);
    service = new LocalService(world);
    const { recipient, resourceUrl, amount } = started.request;
    request = { recipient, resourceUrl, price: amount, key: "order 1" };
  }
  beforeEach(() => open([5_000n, 6_000n]));
  const buy = (changes: Partial<KeyedRequest> = {}) =>
    purchase(payer, service.client, { ...request, ...changes }, { chainTimeoutMs: 50, fundsTimeoutMs: 50 });
  /** Base units that the merchant has received. */
  const received = async () => {
    await merchant.scan();
    return merchant.balance().total;
  };
  const pass = (seconds: number) => {
    world.chain.time += seconds;
    world.chain.mine();
  };

  it("returns the proof of the settled payment, and finishes on delivery", async () => {
    const paid = await buy();
    const header = parseProofHeader(paid.header);
    expect([header.txSignature, header.resourceUrl]).to.deep.equal([paid.txSignature, request.resourceUrl]);
    expect(String(paymentSignals(header.publicSignals).nullifier)).to.equal(paid.nullifier);
    expect(payer.history()[0]).to.include({ state: "settled", transactionHash: paid.txSignature, digest: paid.digest });
    expect(await openPurchases(payer)).to.have.length(1);
    await paid.delivered();
    expect(await openPurchases(payer)).to.deep.equal([]);
    const again = await rejection(buy());
    expect(again).to.include({ code: "PURCHASE_FINISHED" });
    expect(again.details).to.include({ txSignature: paid.txSignature, digest: paid.digest });
    expect(await received()).to.equal(1_000n);
  });

  it("allows one purchase per key: rejects concurrent calls and different terms", async () => {
    const [first, second] = await Promise.allSettled([buy(), buy()]);
    expect(first.status).to.equal("fulfilled");
    expect((second as PromiseRejectedResult).reason.code).to.equal("PURCHASE_IN_PROGRESS");
    // No other call can acquire the purchase until it is released.
    expect((await rejection(buy())).code).to.equal("PURCHASE_IN_PROGRESS");
    if (first.status === "fulfilled") first.value.release();
    for (const changes of [{ price: 1_001n }, { resourceUrl: "https://data.example/other" }])
      expect((await rejection(buy(changes))).code).to.equal("PURCHASE_MISMATCH");
    const taken = await buy();
    expect(taken.txSignature).to.equal(first.status === "fulfilled" && first.value.txSignature);
    expect(await received()).to.equal(1_000n);
  });

  it("does not settle with a token that may be too long for a header", async () => {
    service.before = async (path, body) => {
      if (path !== "verify") return undefined;
      const answer = await service.answer(path, body);
      return { ...answer, paymentToken: `${String(answer["paymentToken"])}${"y".repeat(MAX_PAYMENT_TOKEN_LENGTH)}` };
    };
    const error = await rejection(buy());
    expect(error).to.include({ code: "SERVICE_ANSWER_INVALID" });
    expect(error.message).to.include(String(MAX_PAYMENT_TOKEN_LENGTH));
    expect(service.asked).to.not.include("settle");
    expect(await received()).to.equal(0n);
  });

  it("respects the server's header limit, also after a restart", async () => {
    const resourceUrl = `https://data.example/${"a".repeat(1_900)}`;
    const whole = (await buy({ key: "order 0", resourceUrl })).header;
    const limit = whole.length - 100;
    service.before = (path) => (path === "settle" ? AWAY() : undefined);
    expect((await rejection(buy({ resourceUrl, maxHeaderLength: limit }))).code).to.equal("SETTLEMENT_UNKNOWN");
    service.before = () => undefined;
    const { header } = await buy({ resourceUrl });
    expect(header.length).to.be.at.most(limit);
    expect(parseProofHeader(header).resourceUrl).to.equal(undefined);
  });

  it("does not start if its proof may exceed the server's header limit", async () => {
    for (const maxHeaderLength of [1, 1_024, 4_000]) {
      const error = await rejection(buy({ maxHeaderLength }));
      expect(error).to.include({ code: "PROOF_HEADER_TOO_LONG" });
      expect(error.details).to.include({ limit: maxHeaderLength });
      expect(error.message).to.include(String(maxHeaderLength));
    }
    for (const maxHeaderLength of [0, -1, 1.5, Number.NaN, "8192"])
      expect((await rejection(buy({ maxHeaderLength: maxHeaderLength as number }))).code).to.equal("PURCHASE_INVALID");
    expect([service.asked, await openPurchases(payer)]).to.deep.equal([[], []]);
    expect(await received()).to.equal(0n);
  });

  it("retries from the same note if the service was unreachable until the deadline had passed", async () => {
    service.before = (path) => (path === "settle" ? AWAY() : undefined);
    const error = await rejection(buy());
    expect(error.code).to.equal("SETTLEMENT_UNKNOWN");
    service.before = () => undefined;
    pass(AN_AGE);
    // The client tries the old token first, because its payment may have settled. The service answers that it expired.
    const paid = await buy();
    expect(service.asked).to.deep.equal(["verify", "settle", "settle", "settle", "verify", "settle"]);
    expect(payer.history()).to.have.length(1);
    expect([paid.nullifier, await received()]).to.deep.equal([
      String(paymentSignals(parseProofHeader(paid.header).publicSignals).nullifier),
      1_000n,
    ]);
    expect((await store().list("spend/")).length).to.equal(1);
  });

  it("finds on chain which attempt settled in the meantime", async () => {
    const bundles: WireBundle[] = [];
    service.before = (path, body) => {
      if (path === "verify") bundles.push(body as unknown as WireBundle);
      return path === "settle" ? { status: "failed", txSignature: "0x", reason: "EXPIRED" } : undefined;
    };
    expect((await rejection(buy())).code).to.equal("SETTLEMENT_UNKNOWN");
    expect(bundles.length).to.be.greaterThan(2);
    expect(new Set(bundles.map(({ publicSignals }) => paymentSignals(publicSignals).nullifier)).size).to.equal(1);
    const txSignature = service.settle(bundles[1]!);
    await world.append();
    service.before = AWAY;
    const paid = await buy();
    expect(paid.txSignature).to.equal(txSignature);
    expect(parseProofHeader(paid.header).publicSignals.map(String)).to.deep.equal(bundles[1]!.publicSignals);
    expect(await received()).to.equal(1_000n);
  });

  it("requests the token if the bundle settles before the token arrives", async () => {
    service.before = (path, body) => {
      if (path !== "verify") return undefined;
      service.settle(body as unknown as WireBundle);
      return AWAY();
    };
    expect((await rejection(buy())).code).to.equal("SERVICE_UNREACHABLE");
    await world.append();
    service.before = (path) =>
      path === "verify" ? { valid: false, reason: "NULLIFIER_SPENT", message: "spent" } : undefined;
    const refused = await rejection(buy());
    expect([refused.code, await received()]).to.deep.equal(["PAID_BUT_REFUSED", 1_000n]);
    expect(refused.details).to.include({ amount: "1000", resource: request.resourceUrl });
    expect((await rejection(buy())).code).to.equal("PAID_BUT_REFUSED");

    await open([5_000n]);
    service.before = (path, body) => {
      if (path !== "verify") return undefined;
      service.settle(body as unknown as WireBundle);
      return AWAY();
    };
    await rejection(buy());
    service.before = () => undefined;
    expect((await buy()).header).to.include("paymentToken");
    expect(await received()).to.equal(1_000n);
  });

  /** Drops the response to a settlement, and spends the purchase's note elsewhere. */
  async function replaceNote(): Promise<void> {
    service.before = (path) => (path === "settle" ? AWAY() : undefined);
    expect((await rejection(buy())).code).to.equal("SETTLEMENT_UNKNOWN");
    const device = await world.wallet({ seed: SEED });
    await device.scan();
    // The other device does not know the purchase and selects the same note, the smallest.
    world.settle(await device.pay({ ...request, amount: 700n }));
    await world.append();
    service.before = () => undefined;
  }

  it("pays from another note after another device spent the first and no other attempt can settle", async () => {
    await replaceNote();
    const paid = await buy();
    expect(await received()).to.equal(1_700n);
    expect(payer.history().map(({ state }) => state)).to.deep.equal(["failed", "settled"]);
    expect(paid.id).to.equal((await openPurchases(payer))[0]!.id);
  });

  it("resumes the second payment, not the first, although only the first was submitted", async () => {
    await replaceNote();
    // Proving the second payment fails after the payment was stored.
    world.prover.before = () => {
      throw new Error("the prover died");
    };
    const died = await buy().catch((error: Error) => error.message);
    expect(died).to.equal("the prover died");
    world.prover.before = () => undefined;
    service.asked.length = 0;
    await buy();
    expect(service.asked).to.deep.equal(["verify", "settle"]);
    expect(await received()).to.equal(1_700n);
  });

  it("is not paid again until it is dismissed if its proof is too old", async () => {
    const paid = await buy();
    paid.release();
    pass(AN_AGE);
    const stale = await rejection(buy());
    expect(stale.code).to.equal("PAID_BUT_STALE");
    expect(stale.details).to.deep.equal({
      id: paid.id,
      txSignature: paid.txSignature,
      digest: paid.digest,
      nullifier: paid.nullifier,
      amount: "1000",
      resource: request.resourceUrl,
      recipient: request.recipient.wallet,
      timestamp: paid.timestamp,
    });
    expect((await rejection(buy())).details).to.deep.equal(stale.details);
    expect((await openPurchases(payer))[0]).to.include({ state: "stopped" });
    expect(await received()).to.equal(1_000n);
    await dismissPurchase(payer, paid.id);
    expect((await rejection(buy())).code).to.equal("PURCHASE_FINISHED");
    expect((await rejection(dismissPurchase(payer, paid.id))).code).to.equal("UNKNOWN_PURCHASE");
  });

  it("waits for a pending note, and reports a timeout", async () => {
    await open([5_000n]);
    (await buy()).release();
    const second = { key: "order 2" };
    world.append = async () => 0;
    await payer.scan();
    // The change is spendable now, but the unfinished second purchase holds it.
    service.before = (path) => (path === "verify" ? AWAY() : undefined);
    expect((await rejection(buy(second))).code).to.equal("SERVICE_UNREACHABLE");
    expect((await rejection(buy({ key: "order 3" }))).code).to.equal("FUNDS_TIMED_OUT");
    expect((await rejection(buy({ key: "order 4", price: 5_000n }))).code).to.equal("INSUFFICIENT_FUNDS");
  });

  it("can be aborted and resumed at each stage", async () => {
    const stages: PurchaseStage[] = ["proving", "verifying", "settling", "confirming"];
    for (const [index, stage] of stages.entries()) {
      await open([5_000n]);
      const abort = new AbortController();
      const reason = new Error(stage);
      const options = {
        signal: abort.signal,
        onProgress: (told: { stage: string }) => void (told.stage === stage && abort.abort(reason)),
      };
      const stopped = await purchase(payer, service.client, request, options).catch((error: unknown) => error);
      expect(stopped, stage).to.equal(reason);
      const paid = await buy();
      expect(await received(), stage).to.equal(1_000n);
      expect(payer.history(), stage).to.have.length(1);
      expect(paid.header.length).to.be.greaterThan(index);
    }
  });

  it("rejects an invalid request", async () => {
    for (const changes of [
      { key: "" },
      { key: "x".repeat(513) },
      { key: 7 },
      { price: 0n },
      { price: 1 << 20 },
      { resourceUrl: "" },
      { recipient: undefined },
    ])
      expect((await rejection(buy(changes as never))).code, JSON.stringify(Object.keys(changes))).to.match(/INVALID/);
    expect(await openPurchases(payer)).to.deep.equal([]);
  });

  it("finds a note for each parallel purchase after a split", async () => {
    await open([50_000n]);
    expect(await prepareNotes(payer, service.client, { notes: 5, amount: 8_000n })).to.equal(4);
    const spendable = payer.notes().filter(({ state }) => state === "spendable");
    expect(spendable).to.have.length(5);
    expect(spendable.every(({ amount }) => amount >= 8_000n)).to.equal(true);
    expect(payer.balance()).to.include({ spendable: 50_000n, total: 50_000n });
    expect(await prepareNotes(payer, service.client, { notes: 5, amount: 8_000n })).to.equal(0);
    const paid = await Promise.all([1, 2, 3, 4, 5].map((n) => buy({ key: `parallel ${n}` })));
    expect(new Set(paid.map(({ nullifier }) => nullifier)).size).to.equal(5);
    expect(await received()).to.equal(5_000n);
    const impossible = await rejection(prepareNotes(payer, service.client, { notes: 9, amount: 20_000n }));
    expect(impossible.code).to.equal("SPLIT_IMPOSSIBLE");
  });
});
