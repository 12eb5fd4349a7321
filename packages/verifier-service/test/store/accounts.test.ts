// The account's balance covers its deposits; accounts are served in turn; each send counts for the quotas.

import type { Quota } from "@sotto/server";
import { EVERY_DATABASE, overDatabases } from "@sotto/test-kit/databases";
import { expect } from "chai";
import type { NewDeposit, Store } from "../../src/store/index.ts";
import { NOW, newDeposit, storesPerTest } from "./test-stores.ts";

const DAY_MS = 86_400_000;
const DEADLINE = NOW / 1000 + 600;

const deposit = (id: string, change: Partial<NewDeposit> = {}): NewDeposit =>
  newDeposit(id, { amount: 4n, balance: 10n, ...change });

overDatabases("accounts", EVERY_DATABASE, (newUrl) => {
  const stores = storesPerTest(newUrl);
  let nonce = 0;
  let store: Store;
  beforeEach(async () => {
    store = await stores.open();
  });

  const asRelayer: <T>(action: Parameters<typeof store.asRelayer<T>>[1]) => Promise<T> = async (action) => {
    const lease = (await store.leases.acquire("relayer", "me", 1e10))!;
    return store.asRelayer(lease, action);
  };

  /** Puts operations into a transaction with this id. */
  function send(id: string, operationIds: readonly string[], kind: "settle" | "deposit" = "deposit") {
    nonce += 1;
    const sent = { id, kind, sender: "0x0f", nonce, to: "0x02", data: "0x", gasLimit: 1n, day: "2026-09-21" };
    const attempt = { hash: `0x${id}`, raw: "0x", maxFee: 2n, maxPriority: 1n };
    return asRelayer(({ outbox }) => outbox.record(sent, attempt, operationIds));
  }

  const kinds = (results: readonly { kind: string }[]) => results.map(({ kind }) => kind).sort();

  it("queues only deposits that the account's balance covers, across replicas", async () => {
    const other = await stores.open();
    const asked = Array.from({ length: 8 }, (_, i) =>
      (i % 2 ? store : other).operations.enqueueDeposit(deposit(`${i}`)),
    );
    const results = await Promise.all(asked);
    expect(kinds(results)).to.deep.equal([...Array(2).fill("queued"), ...Array(6).fill("uncovered")]);
    expect(results.find(({ kind }) => kind === "uncovered")).to.deep.equal({
      kind: "uncovered",
      deposits: 2,
      open: 8n,
    });
    const another = deposit("a", { account: "0x02" });
    expect((await store.operations.enqueueDeposit(another)).kind).to.equal("queued");
  });

  it("stops counting a mined or failed deposit against the balance", async () => {
    const taken = deposit("mined", { amount: 9n });
    expect((await store.operations.enqueueDeposit(taken)).kind).to.equal("queued");
    await send("t", ["mined"]);
    const next = deposit("next", { balance: 9n, amount: 9n });
    expect((await store.operations.enqueueDeposit(next)).kind).to.equal("uncovered");
    await asRelayer(({ outbox }) => outbox.mined("t", "0xt", { number: 1, hash: "0x01" }, true, 1n));
    expect((await store.operations.enqueueDeposit(next)).kind).to.equal("queued");
    const last = deposit("last", { balance: 1n, amount: 1n });
    expect((await store.operations.enqueueDeposit(last)).kind).to.equal("uncovered");
    await asRelayer(({ operations }) => operations.ended("next", "failed", "REVERTED"));
    expect((await store.operations.enqueueDeposit(last)).kind).to.equal("queued");
  });

  it("queues a deposit whose authorization is already used, because it transfers no more tokens", async () => {
    await store.operations.enqueueDeposit(deposit("a", { amount: 10n }));
    const used = deposit("b", { balance: undefined });
    expect((await store.operations.enqueueDeposit(used)).kind).to.equal("queued");
    const third = deposit("c", { balance: 14n });
    expect((await store.operations.enqueueDeposit(third)).kind).to.equal("queued");
  });

  it("counts a deposit for both its client and its account, or for neither", async () => {
    const quotas = (client: string): Quota[] => [
      { key: `sponsor:${client}`, limit: 3, window: DAY_MS },
      { key: "depositor:0x01", limit: 2, window: DAY_MS },
    ];
    const free = { amount: 0n };
    expect((await store.operations.enqueueDeposit(deposit("a", free), quotas("x"))).kind).to.equal("queued");
    expect((await store.operations.enqueueDeposit(deposit("b", free), quotas("y"))).kind).to.equal("queued");
    const third = await store.operations.enqueueDeposit(deposit("c", free), quotas("x"));
    expect(third).to.deep.nested.include({ kind: "exceeded", "quota.key": "depositor:0x01" });
    const left = await store.quotas.take({ key: "sponsor:x", limit: 3, window: DAY_MS });
    expect(left).to.include({ allowed: true, remaining: 1 });
  });

  it("counts each resend of a deposit, within its quotas", async () => {
    const quotas = ["sponsor:c", "depositor:0x01"].map((key) => ({ key, limit: 2, window: DAY_MS }));
    await store.operations.enqueueDeposit(deposit("a"), quotas);
    for (const id of ["t1", "t2"]) {
      expect(await send(id, ["a"])).to.equal(undefined);
      await asRelayer(({ outbox }) => outbox.dropped(id));
    }
    expect(await send("t3", ["a"])).to.deep.nested.include({ kind: "exceeded", "quota.key": "sponsor:c" });
    expect(await store.outbox.get("t3")).to.equal(undefined);
    expect(await store.operations.get("a")).to.include({ state: "queued", transactionId: undefined });
    expect((await store.operations.enqueueDeposit(deposit("b"), quotas)).kind).to.equal("exceeded");
    stores.time += DAY_MS;
    expect(await send("t4", ["a"])).to.equal(undefined);
  });

  it("counts each resend of a payment for recipient and client, but always sends it", async () => {
    const reservation = { nullifier: "1", digest: "0xaa", bundle: "{}", recipient: "0x01", client: "x" };
    const times = { expiresAt: NOW + 100_000, validUntil: DEADLINE };
    await store.reservations.reserve({ id: "p", ...reservation, ...times });
    const recipient = { key: "recipient:r", limit: 1, window: DAY_MS };
    const again = (client: string) => [{ key: `client:${client}`, limit: 1, window: DAY_MS }];
    await store.operations.enqueuePayment("p", JSON.parse, [recipient], again);
    await send("t1", ["p"], "settle");
    expect(await store.quotas.take({ ...recipient, limit: 9 })).to.include({ remaining: 7 });
    await asRelayer(({ outbox }) => outbox.dropped("t1"));
    expect(await send("t2", ["p"], "settle")).to.equal(undefined);
    expect(await store.operations.get("p")).to.include({ state: "broadcast", transactionId: "t2" });
    expect(await store.quotas.take({ ...recipient, limit: 9 })).to.include({ remaining: 5 });
    expect((await store.quotas.take(again("x")[0]!)).allowed).to.equal(false);
  });

  it("counts a transaction again whenever its replacements have doubled its cost", async () => {
    const quota = { key: "depositor:0x01", limit: 100, window: DAY_MS };
    await store.operations.enqueueDeposit(deposit("a"), [quota]);
    await send("t", ["a"]);
    const used: number[] = [];
    for (const maxFee of [3n, 4n, 7n, 9n, 40n]) {
      const attempt = { hash: `0x${maxFee}`, raw: "0x", maxFee, maxPriority: 1n };
      await asRelayer(({ outbox }) => outbox.replace("t", attempt));
      // This `take` counts as a use too.
      used.push(100 - (await store.quotas.take(quota)).remaining - used.length - 1);
    }
    expect(used).to.deep.equal([1, 2, 2, 3, 5]);
    const nothing = { kind: "cancel" as const, to: "0x0f", data: "0x", gasLimit: 1n };
    const cancellation = { hash: "0xcc", raw: "0x", maxFee: 41n, maxPriority: 1n };
    await asRelayer(({ outbox }) => outbox.replace("t", cancellation, nothing));
    expect((await store.quotas.take(quota)).remaining).to.equal(100 - 5 - 6);
  });

  it("serves every account once before it serves one twice", async () => {
    const served = async () => (await store.operations.ready(0, 3, 100)).map(({ id }) => id);
    for (let i = 0; i < 5; i += 1) {
      stores.time += 1;
      await store.operations.enqueueDeposit(deposit(`a${i}`, { amount: 0n }));
    }
    stores.time += 1;
    await store.operations.enqueueDeposit(deposit("b0", { account: "0x02" }));
    const withdrawal = { ...deposit("w0"), digest: "0xdd", client: "y", nullifiers: ["1"] };
    await store.operations.enqueueWithdrawal(withdrawal);
    expect(await served()).to.deep.equal(["a0", "b0", "w0", "a1", "a2", "a3", "a4"]);
    await send("t1", ["a0"]);
    await send("t2", ["a1"]);
    stores.time += 1;
    await store.operations.enqueueDeposit(deposit("c0", { account: "0x03" }));
    expect(await served()).to.deep.equal(["b0", "w0", "a2", "c0", "a3", "a4"]);
    await asRelayer(({ operations }) => operations.deferred("b0", "REVERTED", 1, 0));
    expect((await served()).at(-1)).to.equal("b0");
    await asRelayer(({ operations }) => operations.deferred("b0", "REVERTED", 3, 0));
    expect(await served()).not.to.include("b0");
    expect((await store.operations.queuedOthers(undefined, 3)).map(({ id }) => id)).to.deep.equal(["a2", "a3", "a4"]);
  });
});
