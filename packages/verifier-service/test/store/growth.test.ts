// Data that grows with every payment is limited or small.

import { EVERY_DATABASE, overDatabases } from "@sotto/test-kit/databases";
import { expect } from "chai";
import { sql } from "kysely";
import { open } from "../../src/store/database.ts";
import { openStore, type Store } from "../../src/store/index.ts";

const NOW = 1_790_000_000_000;
const DAY_MS = 86_400_000;
const TEXT = "a call of some kilobytes";
const TRACE = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
const DEPOSIT = { account: "0x01", amount: 1n, balance: 3n };

overDatabases("store's growth", EVERY_DATABASE, (newUrl) => {
  let time = NOW;
  let url = "";
  let store: Store;
  beforeEach(async () => {
    time = NOW;
    url = await newUrl();
    store = await openStore({ url, clock: () => time });
  });
  afterEach(() => store.close());

  /** Number of rows in each table that still contain the sent text. */
  async function kept(): Promise<Record<string, number>> {
    const database = await open({ url });
    const columns = { operations: "call", transactions: "data", attempts: "raw" };
    const counts: Record<string, number> = {};
    for (const [table, column] of Object.entries(columns)) {
      const pattern = `%${TEXT}%`;
      const query = sql<{
        id: string;
      }>`select 1 as id from ${sql.table(table)} where ${sql.ref(column)} like ${pattern}`;
      counts[table] = (await query.execute(database.db)).rows.length;
    }
    await database.close();
    return counts;
  }

  it("is bounded: transactions are deleted long after their end, outcomes are kept", async () => {
    const lease = (await store.leases.acquire("relayer", "me", 1e10))!;
    const fees = { maxFee: 2n, maxPriority: 1n };
    const sent = { kind: "deposit" as const, sender: "0x01", to: "0x02", data: TEXT, gasLimit: 1n, day: "2026-01-01" };
    for (const [nonce, id] of ["over", "dropped", "open"].entries()) {
      const operation = {
        id,
        digest: id,
        call: { TEXT },
        client: "c",
        validUntil: NOW,
        trace: () => TRACE,
        ...DEPOSIT,
      };
      await store.operations.enqueueDeposit(operation);
      await store.asRelayer(lease, async ({ outbox, operations }) => {
        await outbox.record({ ...sent, id, nonce }, { ...fees, hash: `0x${id}`, raw: TEXT }, [id]);
        if (id === "over") {
          await outbox.mined(id, `0x${id}`, { number: 5, hash: "0x05" }, true, 1n);
          await outbox.final(id);
          await operations.settled(id, { txHash: `0x${id}`, blockNumber: 5 });
        } else if (id === "dropped") {
          await outbox.dropped(id);
          await operations.ended(id, "failed", "REVERTED");
        }
      });
    }
    time += 29 * DAY_MS;
    await store.sweep();
    expect(await kept()).to.deep.equal({ operations: 3, transactions: 3, attempts: 3 });
    const traceOf = async (id: string) => (await store.operations.get(id))?.trace;
    expect([await traceOf("over"), await traceOf("open")]).to.deep.equal([TRACE, TRACE]);
    time += 2 * DAY_MS;
    await store.sweep();
    expect([await traceOf("over"), await traceOf("open")]).to.deep.equal([undefined, TRACE]);
    expect(await kept()).to.deep.equal({ operations: 1, transactions: 1, attempts: 1 });
    await store.asRelayer(lease, async ({ operations }) => {
      await operations.unsettle(0);
      await operations.unmine(0);
    });
    expect(await store.outbox.open()).to.have.lengthOf(1);
    expect(await store.operations.get("over")).to.include({ state: "settled", txHash: "0xover", blockNumber: 5 });
    expect(await store.operations.get("dropped")).to.include({ state: "failed", reason: "REVERTED" });
    expect(await store.outbox.nonces("0x01", 0)).to.deep.equal(new Set([0, 2]));
    const deposit = { id: "again", digest: "over", call: { TEXT }, client: "c", validUntil: NOW, ...DEPOSIT };
    expect(await store.operations.enqueueDeposit(deposit)).to.deep.nested.include({
      kind: "same",
      "operation.id": "over",
    });
  });

  it("does not limit the number of waiting operations", async () => {
    const nullifiers = Array.from({ length: 70_000 }, (_, index) => String(index));
    const lease = (await store.leases.acquire("relayer", "me", 1e10))!;
    const spend = { digest: "0xaa", tx_hash: "0x01", block_number: 1 };
    const spends = ["3", "69999"].map((nullifier) => ({ ...spend, nullifier }));
    const page = { leaves: [], appends: [], spends, blocks: [] };
    await store.asRelayer(lease, ({ ledger }) => ledger.add(page, 128));
    expect([...(await store.ledger.spends(nullifiers)).keys()].sort()).to.deep.equal(["3", "69999"]);
  });
});
