import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "@sotto/database";
import { EVERY_DATABASE, overDatabases } from "@sotto/test-kit/databases";
import { rejection } from "@sotto/test-kit/rejection";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { sql } from "kysely";
import { openStore, type Store } from "../../src/store/index.ts";
import { newDeposit as deposit, NOW, storesPerTest } from "./test-stores.ts";

const reservation = (id: string, change: Record<string, unknown> = {}) => ({
  id,
  nullifier: "11",
  digest: "0xaa",
  bundle: '{"proof":1}',
  expiresAt: NOW + 100_000,
  validUntil: NOW / 1000 + 120,
  recipient: "0x01",
  client: "c",
  ...change,
});

const call = (bundle: string) => JSON.parse(bundle);

overDatabases("store", EVERY_DATABASE, (newUrl) => {
  const stores = storesPerTest(newUrl);
  const open = (url?: string) => stores.open(url);
  let store: Store;
  beforeEach(async () => {
    store = await open();
  });

  it("reserves a nullifier once, and returns the same reservation for the same bundle", async () => {
    expect(await store.reservations.reserve(reservation("a"))).to.deep.equal({ kind: "reserved", id: "a" });
    const again = reservation("b", { expiresAt: NOW + 200_000 });
    expect(await store.reservations.reserve(again)).to.deep.equal({ kind: "same", id: "a" });
    expect(await store.reservations.get("a")).to.include({ expiresAt: NOW + 200_000, bundle: '{"proof":1}' });
    expect(await store.reservations.get("b")).to.equal(undefined);
  });

  it("lets another bundle of the same note replace an unqueued bundle, whose id becomes invalid", async () => {
    await store.reservations.reserve(reservation("a"));
    const other = reservation("b", { digest: "0xbb", bundle: "{}" });
    expect(await store.reservations.reserve(other)).to.deep.equal({ kind: "reserved", id: "b" });
    expect(await store.operations.enqueuePayment("a", call)).to.deep.equal({ kind: "gone" });
    expect((await store.operations.enqueuePayment("b", call)).kind).to.equal("queued");
  });

  it("replaces a bundle with the same signals and another proof, so that the verified one is sent", async () => {
    await store.reservations.reserve(reservation("a"));
    const other = reservation("b", { bundle: '{"proof":2}' });
    expect(await store.reservations.reserve(other)).to.deep.equal({ kind: "reserved", id: "b" });
  });

  it("rejects another bundle once one is queued or settled", async () => {
    await store.reservations.reserve(reservation("a"));
    await store.operations.enqueuePayment("a", call);
    const other = reservation("b", { digest: "0xbb", bundle: "{}" });
    expect(await store.reservations.reserve(other)).to.deep.equal({ kind: "taken", reason: "NULLIFIER_QUEUED" });
    expect(await store.reservations.reserve(reservation("c"))).to.deep.equal({ kind: "same", id: "a" });
    const lease = (await store.leases.acquire("relayer", "me", 1000))!;
    await store.asRelayer(lease, ({ operations }) => operations.settled("a", { txHash: "0x01", blockNumber: 5 }));
    expect(await store.reservations.reserve(other)).to.deep.equal({ kind: "taken", reason: "NULLIFIER_SPENT" });
  });

  it("frees the nullifier of a payment that failed", async () => {
    await store.reservations.reserve(reservation("a"));
    await store.operations.enqueuePayment("a", call);
    const lease = (await store.leases.acquire("relayer", "me", 1000))!;
    await store.asRelayer(lease, ({ operations }) => operations.ended("a", "expired", "EXPIRED"));
    const next = reservation("b");
    expect(await store.reservations.reserve(next)).to.deep.equal({ kind: "reserved", id: "b" });
    expect(await store.operations.get("a")).to.include({ state: "expired", reason: "EXPIRED" });
    expect((await store.operations.enqueuePayment("a", call)).kind).to.equal("same");
  });

  it("queues a payment once, with the reserved bundle's call", async () => {
    await store.reservations.reserve(reservation("a"));
    const first = await store.operations.enqueuePayment("a", call);
    const second = await store.operations.enqueuePayment("a", () => "another");
    expect([first.kind, second.kind]).to.deep.equal(["queued", "same"]);
    expect(await store.operations.get("a")).to.deep.include({
      kind: "payment",
      state: "queued",
      call: { proof: 1 },
      nullifiers: ["11"],
      validUntil: NOW / 1000 + 120,
      createdAt: NOW,
    });
    expect(await store.operations.counts()).to.deep.equal({ queued: 1, broadcast: 0 });
  });

  it("expires a reservation with its token", async () => {
    await store.reservations.reserve(reservation("a"));
    stores.time = NOW + 100_000;
    expect(await store.operations.enqueuePayment("a", call)).to.deep.equal({ kind: "gone" });
    expect(await store.reservations.sweep()).to.equal(1);
    expect(await store.reservations.get("a")).to.equal(undefined);
    const next = reservation("b", { expiresAt: NOW + 300_000 });
    expect(await store.reservations.reserve(next)).to.deep.equal({ kind: "reserved", id: "b" });
    expect(await store.reservations.sweep()).to.equal(0);
  });

  it("keeps queued payments when it deletes expired ones", async () => {
    await store.reservations.reserve(reservation("a"));
    await store.operations.enqueuePayment("a", call);
    stores.time = NOW + 1_000_000;
    expect(await store.reservations.sweep()).to.equal(0);
    expect(await store.reservations.get("a")).to.include({ id: "a" });
  });

  it("deletes the bundle of a payment that ended long ago, but keeps its outcome", async () => {
    await store.reservations.reserve(reservation("a"));
    await store.reservations.reserve(reservation("b", { nullifier: "12" }));
    for (const id of ["a", "b"]) await store.operations.enqueuePayment(id, call);
    const lease = (await store.leases.acquire("relayer", "me", 1000))!;
    await store.asRelayer(lease, ({ operations }) => operations.settled("a", { txHash: "0x01", blockNumber: 5 }));
    stores.time += 31 * 86_400_000;
    await store.sweep();
    expect(await store.reservations.get("a")).to.equal(undefined);
    expect(await store.reservations.get("b")).to.include({ id: "b" });
    expect(await store.operations.enqueuePayment("a", call)).to.deep.nested.include({
      kind: "same",
      "operation.state": "settled",
    });
    const again = reservation("c", { expiresAt: stores.time + 1000 });
    expect(await store.reservations.reserve(again)).to.deep.equal({ kind: "taken", reason: "NULLIFIER_SPENT" });
  });

  it("reserves all nullifiers of a withdrawal, and replaces mere reservations", async () => {
    await store.reservations.reserve(reservation("a"));
    const withdrawal = { id: "w", digest: "0xdd", call: {}, client: "c", validUntil: 1, nullifiers: ["10", "11"] };
    expect((await store.operations.enqueueWithdrawal(withdrawal)).kind).to.equal("queued");
    expect(await store.operations.enqueuePayment("a", call)).to.deep.equal({ kind: "gone" });
    expect(await store.reservations.reserve(reservation("b"))).to.include({ kind: "taken" });
    const overlapping = { ...withdrawal, id: "v", digest: "0xee", nullifiers: ["12", "10"] };
    expect(await store.operations.enqueueWithdrawal(overlapping)).to.include({ kind: "taken" });
    const same = await store.operations.enqueueWithdrawal({ ...withdrawal, id: "u" });
    expect(same).to.deep.nested.include({ kind: "same", "operation.id": "w" });
  });

  it("queues a deposit once by its authorization", async () => {
    const next = deposit("d", { digest: "0x01:0x02" });
    expect((await store.operations.enqueueDeposit(next)).kind).to.equal("queued");
    const same = await store.operations.enqueueDeposit({ ...next, id: "e" });
    expect(same).to.deep.nested.include({ kind: "same", "operation.id": "d" });
  });

  it("grants a nullifier to only one of many concurrent requests", async () => {
    const others = await Promise.all([open(), open()]);
    const bids = [store, ...others].flatMap((one, i) =>
      Array.from({ length: 4 }, (_, n) => {
        const id = `${i}-${n}`;
        return one.operations.enqueueWithdrawal({
          id,
          digest: id,
          call: {},
          client: "",
          validUntil: 1,
          nullifiers: n % 2 ? ["1", "2", "3"] : ["3", "2", "1"],
        });
      }),
    );
    const results = await Promise.all(bids);
    expect(results.filter(({ kind }) => kind === "queued")).to.have.length(1);
    expect(results.filter(({ kind }) => kind === "taken")).to.have.length(11);
  });

  it("counts quotas across replicas", async () => {
    const other = await open();
    const quota = { key: "client:x", limit: 3, window: 60_000 };
    const results = await Promise.all([1, 2, 3, 4, 5].map((i) => (i % 2 ? store : other).quotas.take(quota)));
    expect(results.filter(({ allowed }) => allowed)).to.have.length(3);
    stores.time += 60_000;
    expect(await store.quotas.take(quota)).to.include({ allowed: true, remaining: 2 });
  });

  it("counts several uses at once, and at most a whole window", async () => {
    const quota = { key: "sponsor:x", limit: 5, window: 60_000 };
    expect(await store.quotas.take({ ...quota, uses: 3 })).to.include({ allowed: true, remaining: 2 });
    expect(await store.quotas.take({ ...quota, uses: 3 })).to.include({ allowed: false });
    expect(await store.quotas.take({ ...quota, uses: 2 })).to.include({ allowed: true, remaining: 0 });
    stores.time += 60_000;
    expect(await store.quotas.take({ ...quota, uses: 6 })).to.include({ allowed: true, remaining: 0 });
    stores.time += 60_000;
    await store.quotas.take(quota);
    expect(await store.quotas.take({ ...quota, uses: 6 })).to.include({ allowed: false });
  });

  it("has one leader, and rejects writes of an earlier leader", async () => {
    const other = await open();
    const mine = (await store.leases.acquire("relayer", "me", 60_000))!;
    expect(await other.leases.acquire("relayer", "you", 60_000)).to.equal(undefined);
    expect(await store.leases.acquire("relayer", "me", 60_000)).to.deep.equal(mine);
    await store.leases.release(mine);
    const yours = (await other.leases.acquire("relayer", "you", 60_000))!;
    expect(yours.token).to.equal(mine.token + 1);
    const late = store.asRelayer(mine, ({ operations }) => operations.settled("a", { txHash: "0x01", blockNumber: 5 }));
    expect(await rejection(late)).to.include({ code: "LEASE_LOST" });
  });

  it("passes the lease of a dead leader to the next, with a new number", async () => {
    const dead = (await store.leases.acquire("relayer", "dead", 60_000))!;
    expect(await store.leases.acquire("relayer", "next", 60_000, (holder) => holder === "other")).to.equal(undefined);
    const next = await store.leases.acquire("relayer", "next", 60_000, (holder) => holder === "dead");
    expect(next).to.deep.equal({ name: "relayer", holder: "next", token: dead.token + 1 });
  });

  it("stores a transaction before it is sent, with its operations and maximum cost", async () => {
    await store.reservations.reserve(reservation("a"));
    await store.operations.enqueuePayment("a", call);
    const lease = (await store.leases.acquire("relayer", "me", 1000))!;
    const base = { kind: "settle" as const, sender: "0x0f", nonce: 7, to: "0x02", data: "0x", day: "2026-09-21" };
    const attempt = { hash: "0xh1", raw: "0xr1", maxFee: 10n, maxPriority: 1n };
    await store.asRelayer(lease, ({ outbox }) => outbox.record({ ...base, id: "t", gasLimit: 100n }, attempt, ["a"]));
    expect(await store.operations.get("a")).to.include({ state: "broadcast", transactionId: "t", txHash: "0xh1" });
    expect(await store.gasToday()).to.equal(1000n);
    const dearer = { hash: "0xh2", raw: "0xr2", maxFee: 20n, maxPriority: 2n };
    await store.asRelayer(lease, ({ outbox }) => outbox.replace("t", dearer));
    expect(await store.gasToday()).to.equal(2000n);
    const [open] = await store.outbox.open();
    expect(open!.attempts.map(({ hash }) => hash)).to.deep.equal(["0xh1", "0xh2"]);
    const { id, kind, sender, state, cost, createdAt } = open!;
    expect(await store.outbox.summaries()).to.deep.equal([{ id, kind, sender, state, cost, createdAt }]);
    const twice = store.asRelayer(lease, ({ outbox }) =>
      outbox.record({ ...base, id: "u", gasLimit: 1n }, { ...attempt, hash: "0xh3" }, []),
    );
    expect(await rejection(twice)).to.be.an("error");
    await store.asRelayer(lease, ({ outbox }) => outbox.mined("t", "0xh1", { number: 3, hash: "0xb" }, true, 700n));
    expect(await store.gasToday()).to.equal(700n);
    expect(await store.operations.get("a")).to.include({ txHash: "0xh1" });
    await store.asRelayer(lease, ({ outbox }) => outbox.dropped("t"));
    expect(await store.operations.get("a")).to.include({ state: "queued", transactionId: undefined });
    expect(await store.gasToday()).to.equal(0n);
    expect([await store.outbox.open(), await store.outbox.summaries()]).to.deep.equal([[], []]);
  });

  it("records a transaction again that was dropped, if the signed version is the same", async () => {
    await store.reservations.reserve(reservation("a"));
    await store.operations.enqueuePayment("a", call);
    const lease = (await store.leases.acquire("relayer", "me", 1000))!;
    const base = { kind: "settle" as const, sender: "0x0f", nonce: 7, to: "0x02", data: "0x", day: "2026-09-21" };
    const attempt = { hash: "0xh1", raw: "0xr1", maxFee: 10n, maxPriority: 1n };
    const dearer = { hash: "0xh2", raw: "0xr2", maxFee: 20n, maxPriority: 2n };
    const record = (id: string) =>
      store.asRelayer(lease, ({ outbox }) => outbox.record({ ...base, id, gasLimit: 100n }, attempt, ["a"]));
    const replace = (id: string) => store.asRelayer(lease, ({ outbox }) => outbox.replace(id, dearer));
    await record("t");
    await replace("t");
    await store.asRelayer(lease, ({ outbox }) => outbox.sent("0xh1"));
    await store.asRelayer(lease, ({ outbox }) => outbox.dropped("t"));
    await record("u");
    await replace("u");
    const [open, ...others] = await store.outbox.open();
    expect(others).to.deep.equal([]);
    expect(open!.id).to.equal("u");
    expect(open!.attempts.map(({ hash, sentAt }) => [hash, sentAt])).to.deep.equal([
      ["0xh1", undefined],
      ["0xh2", undefined],
    ]);
    expect(await store.operations.get("a")).to.include({ state: "broadcast", transactionId: "u", txHash: "0xh2" });
    await store.asRelayer(lease, ({ operations }) => operations.settled("a", { txHash: "0xh1", blockNumber: 5 }));
    expect(await store.operations.get("a")).to.include({ gasPaidBy: "0x0f" });
  });

  it("rolls back after a reorganization", async () => {
    await store.reservations.reserve(reservation("a"));
    await store.operations.enqueuePayment("a", call);
    const lease = (await store.leases.acquire("relayer", "me", 1000))!;
    const page = (n: number) => ({
      leaves: [{ leaf_index: n, commitment: String(n), block_number: n }],
      appends: [{ size: n, root: String(n), block_number: n }],
      spends: [{ nullifier: String(n), digest: "0xaa", tx_hash: "0x01", block_number: n }],
      blocks: [{ number: n, hash: `0x${n}`, timestamp: n }],
    });
    for (const n of [0, 1, 2]) await store.asRelayer(lease, ({ ledger }) => ledger.add(page(n), 2));
    await store.asRelayer(lease, ({ operations }) => operations.settled("a", { txHash: "0x01", blockNumber: 2 }));
    expect((await store.ledger.blocks()).map(({ number }) => number)).to.deep.equal([2, 1, 0]);
    await store.asRelayer(lease, ({ ledger }) =>
      ledger.add({ leaves: [], appends: [], spends: [], blocks: [{ number: 3, hash: "0x3", timestamp: 3 }] }, 2),
    );
    // The newest block at least two blocks back is kept, so that a rollback always finds a block.
    expect((await store.ledger.blocks()).map(({ number }) => number)).to.deep.equal([3, 2, 1]);
    const back = await store.asRelayer(lease, async ({ ledger, operations }) => {
      await ledger.rollBack(1);
      return operations.unsettle(1);
    });
    expect(back).to.deep.equal(["a"]);
    expect(await store.operations.get("a")).to.include({ state: "queued", blockNumber: undefined });
    expect(await store.ledger.leafCount()).to.equal(2);
    expect(await store.ledger.lastAppend()).to.include({ size: 1 });
    expect(await store.ledger.spend("2")).to.equal(undefined);
    expect(await store.ledger.spend("1")).to.include({ digest: "0xaa" });
  });

  it("keeps everything across a restart, and supports several connections", async () => {
    await store.reservations.reserve(reservation("a"));
    await store.operations.enqueuePayment("a", call);
    await stores.closeAll();
    const fresh = await newUrl();
    const many = await Promise.all([open(fresh), open(fresh), open(fresh)]);
    for (const one of many) await one.ping();
    expect(await (await open()).operations.get("a")).to.include({ state: "queued" });
  });

  it("rejects invalid records, and databases of a later version", async () => {
    const inMs = store.reservations.reserve(reservation("a", { validUntil: NOW }));
    expect(await rejection(inMs)).to.include({ code: "INVALID_RECORD" });
    const raw = await openDatabase({ url: stores.url, name: "raw", migrations: {} });
    await sql`insert into service_migration (name, timestamp) values ('9999-later', 'x')`.execute(raw.db);
    await raw.close();
    expect(await rejection(open())).to.include({ code: "STORE_TOO_NEW" });
  });
});

describe("the store's URL", () => {
  it("is checked before anything is opened", async () => {
    for (const url of ["", "sqlite:", "mysql://x", "postgres//x"])
      expect(await rejection(openStore({ url }))).to.include({ code: "INVALID_STORE_URL" });
    const nobody = openStore({ url: "postgres://postgres:secret@127.0.0.1:9/none" });
    const error = await rejection(nobody);
    expect(error).to.include({ code: "STORE_UNAVAILABLE" });
    expect(error.message).not.to.contain("secret");
  });

  it("creates a file that only its owner can read", async () => {
    const folder = temporaryFolder("store");
    const path = join(folder, "sotto.db");
    const store = await openStore({ url: `sqlite:${path}` });
    await store.close();
    expect(existsSync(path) && statSync(path).mode & 0o777).to.equal(0o600);
  });
});
