// Frequent queries must not read whole tables, because SQLite runs in the thread that serves requests.

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { openStore, type Store } from "../../src/store/index.ts";

const NOW = 1_790_000_000_000;
/** Tables that grow with each payment, and those that only grow. */
const GROWING = /^SCAN (operations|transactions|attempts|claims|reservations|leaves|appends|spends)$/;

describe("the store's queries", () => {
  const folder = temporaryFolder("plans");
  const path = join(folder, "store.sqlite");
  const asked = new Set<string>();
  const { prepare } = DatabaseSync.prototype;
  let store: Store;

  before(async () => {
    store = await openStore({ url: `sqlite:${path}`, clock: () => NOW });
    DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql: string) {
      asked.add(sql);
      return prepare.call(this, sql);
    };
  });
  after(async () => {
    DatabaseSync.prototype.prepare = prepare;
    await store.close();
  });

  /** All steps of the plans of all queries since the last call. */
  function plans(): { sql: string; detail: string }[] {
    const file = new DatabaseSync(path);
    const found = [...asked].flatMap((sql) =>
      (
        prepare.call(file, `explain query plan ${sql}`).all(...Array(sql.split("?").length - 1).fill(null)) as object[]
      ).map((row) => ({ sql, detail: String((row as { detail: unknown }).detail) })),
    );
    file.close();
    asked.clear();
    return found;
  }

  const scans = () => plans().filter(({ detail }) => GROWING.test(detail));

  it("detects a full scan", async () => {
    const file = new DatabaseSync(path);
    file.prepare("select * from operations where client = ?");
    file.close();
    expect(scans()).to.have.lengthOf(1);
  });

  it("use indexes in each relayer round and each minute's sweep", async () => {
    const lease = (await store.leases.acquire("relayer", "me", 60_000))!;
    const seconds = NOW / 1000 + 600;
    const one = { id: "one", digest: "0x01", call: {}, client: "c", validUntil: seconds };
    await store.operations.enqueueDeposit({ ...one, account: "0x01", amount: 1n, balance: 1n });
    await store.operations.queuedPayments(5_000);
    await store.operations.broadcast();
    await store.operations.ready(1, 3, 64);
    await store.operations.queuedOthers(undefined, 128);
    await store.operations.queuedOthers({ createdAt: 1, id: "a" }, 128);
    await store.operations.counts();
    await store.operations.get("a");
    await store.outbox.open();
    await store.outbox.summaries();
    await store.outbox.dropped("0x01");
    await store.outbox.nonces("0x01", 0);
    await store.ledger.spends(["1", "2"]);
    await store.ledger.leafCount();
    await store.ledger.lastAppend();
    await store.ledger.leaves(0, 64);
    await store.asRelayer(lease, async ({ operations, ledger }) => {
      await operations.unsettle(1);
      await operations.unmine(1);
      await ledger.rollBack(1);
    });
    await store.sweep();
    expect(scans()).to.deep.equal([]);
  });

  it("use indexes for requests", async () => {
    const seconds = NOW / 1000 + 600;
    const deposit = { id: "d", digest: "0xdd", call: {}, client: "c", validUntil: seconds };
    await store.operations.enqueueDeposit({ ...deposit, account: "0x01", amount: 1n, balance: 1n });
    await store.operations.enqueueWithdrawal({ ...deposit, id: "w", nullifiers: ["5", "6"] });
    await store.reservations.reserve({
      id: "r",
      nullifier: "7",
      digest: "0x77",
      bundle: "{}",
      recipient: "0x01",
      client: "c",
      expiresAt: NOW + 100_000,
      validUntil: seconds,
    });
    await store.operations.enqueuePayment("r", JSON.parse);
    await store.reservations.ofBundle("7", "{}");
    await store.reservations.takenBy("7", "[]");
    await store.operations.getWithdrawal("0xdd");
    await store.ledger.spend("7");
    await store.commitments();
    await store.sinceLastRound();
    await store.quotas.take({ key: "client:c", limit: 1, window: 1000 });
    expect(scans()).to.deep.equal([]);
  });
});
