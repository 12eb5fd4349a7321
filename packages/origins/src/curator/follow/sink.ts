import type { PageSink, PoolPage } from "@sotto/chain";
import type { Lease } from "@sotto/database";
import type { Db, Row } from "../store/schema.ts";
import { type CuratorStore, inChunks, nextGeneration } from "../store/store.ts";

/** Blocks that are kept to find where a reorganization began. */
const MAX_ANCHORS = 256;

/** Stores what the leader reads of the chain. */
export function curatorSink(store: CuratorStore, lease: Lease): PageSink {
  const { db } = store;
  return {
    known: () => db.selectFrom("origin_blocks").selectAll().orderBy("number", "desc").execute(),
    async counts() {
      const leaf = await db
        .selectFrom("origin_leaves")
        .select("leaf")
        .orderBy("leaf", "desc")
        .limit(1)
        .executeTakeFirst();
      const append = await db
        .selectFrom("origin_appends")
        .select("size")
        .orderBy("size", "desc")
        .limit(1)
        .executeTakeFirst();
      return { leaves: (leaf?.leaf ?? -1) + 1, appended: append?.size ?? 0 };
    },
    add: (page) => store.lead(lease, (transaction) => addPage(transaction, page)),
    rollBack: (to) => store.lead(lease, (transaction) => rollBack(transaction, to)),
  };
}

async function addPage(db: Db, page: PoolPage): Promise<void> {
  const { leaves, spends } = rowsOf(page);
  await inChunks(leaves, (some) =>
    db
      .insertInto("origin_leaves")
      .values([...some])
      .execute(),
  );
  await inChunks(spends, (some) =>
    db
      .insertInto("origin_spends")
      .values([...some])
      .execute(),
  );
  const appends = page.appends.map(({ size, blockNumber: block_number }) => ({ size, block_number }));
  await inChunks(appends, (some) =>
    db
      .insertInto("origin_appends")
      .values([...some])
      .execute(),
  );
  const blocks = page.anchors.map(({ number, hash, timestamp }) => ({ number, hash, timestamp }));
  await inChunks(blocks, (some) =>
    db
      .insertInto("origin_blocks")
      .values([...some])
      .execute(),
  );
  const oldest = await db
    .selectFrom("origin_blocks")
    .select("number")
    .orderBy("number", "desc")
    .offset(MAX_ANCHORS)
    .limit(1)
    .executeTakeFirst();
  if (oldest !== undefined) await db.deleteFrom("origin_blocks").where("number", "<=", oldest.number).execute();
}

function rowsOf({ events, leaves, start }: PoolPage): {
  leaves: Row<"origin_leaves">[];
  spends: Row<"origin_spends">[];
} {
  const spends: Row<"origin_spends">[] = [];
  const rows = leaves.map(
    ({ leaf, blockNumber }, index): Row<"origin_leaves"> => ({
      leaf: start.leaves + index,
      commitment: `0x${leaf.toString(16)}`,
      block_number: blockNumber,
      amount: null,
      transaction_hash: null,
      log_index: null,
      timestamp: null,
      depositor: null,
    }),
  );
  for (const event of events) {
    const { blockNumber: block_number, logIndex: log_index, timestamp, transactionHash: transaction_hash } = event;
    if (event.type === "appended") continue;
    if (event.type === "deposited") {
      const index = event.leafIndex - start.leaves;
      rows[index] = { ...rows[index]!, amount: String(event.amount), transaction_hash, log_index, timestamp };
      continue;
    }
    const nullifiers = event.type === "settled" ? [event.nullifier] : event.nullifiers.filter((value) => value !== 0n);
    const outputs = event.type === "settled" ? 2 : event.commitment === 0n ? 0 : 1;
    spends.push({
      block_number,
      log_index,
      timestamp,
      nullifiers: nullifiers.join(","),
      leaf: event.leafIndex,
      outputs,
    });
  }
  return { leaves: rows, spends };
}

/** Forgets what came after a block. The log stays: judgements and claims of notes that are gone no longer count. */
async function rollBack(db: Db, to: number): Promise<void> {
  const gone = await db
    .selectFrom("origin_leaves")
    .select("leaf")
    .where("block_number", ">", to)
    .orderBy("leaf")
    .limit(1)
    .executeTakeFirst();
  for (const table of ["origin_leaves", "origin_spends", "origin_appends"] as const)
    await db.deleteFrom(table).where("block_number", ">", to).execute();
  await db.deleteFrom("origin_blocks").where("number", ">", to).execute();
  // The heads stay, but their roots no longer count.
  await db.updateTable("origin_heads").set({ on_chain: 0 }).where("block_number", ">", to).execute();
  // A person judged another deposit.
  if (gone !== undefined) await db.deleteFrom("origin_verdicts").where("leaf", ">=", gone.leaf).execute();
  await nextGeneration(db);
}
