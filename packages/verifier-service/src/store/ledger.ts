import type { Db, Row } from "./schema.ts";

/** The pool's events of a range of blocks. */
export interface LedgerPage {
  leaves: readonly Row<"leaves">[];
  appends: readonly Row<"appends">[];
  spends: readonly Row<"spends">[];
  /** Blocks at the end of the range, used to detect reorganizations. */
  blocks: readonly Row<"blocks">[];
}

/** Rows per insert: SQLite accepts at most 32,766 values. */
const CHUNK = 4_000;

export function ledgerReads(db: Db) {
  return {
    /** Blocks that were read, newest first. */
    blocks: (): Promise<Row<"blocks">[]> => db.selectFrom("blocks").selectAll().orderBy("number", "desc").execute(),

    async spend(nullifier: string): Promise<Row<"spends"> | undefined> {
      return db.selectFrom("spends").selectAll().where("nullifier", "=", nullifier).executeTakeFirst();
    },

    async spends(nullifiers: readonly string[]): Promise<Map<string, Row<"spends">>> {
      const found = new Map<string, Row<"spends">>();
      // Databases limit the number of values in a query.
      for (const some of chunks(nullifiers)) {
        const rows = await db.selectFrom("spends").selectAll().where("nullifier", "in", some).execute();
        for (const row of rows) found.set(row.nullifier, row);
      }
      return found;
    },

    /** The last block that was read; undefined before the first. */
    lastBlock: (): Promise<Row<"blocks"> | undefined> =>
      db.selectFrom("blocks").selectAll().orderBy("number", "desc").limit(1).executeTakeFirst(),

    /** Whether an append had this root. */
    async hasRoot(root: string): Promise<boolean> {
      const query = db.selectFrom("appends").select("size").where("root", "=", root).limit(1);
      return (await query.executeTakeFirst()) !== undefined;
    },

    leaves: (from: number, limit: number): Promise<Row<"leaves">[]> =>
      db.selectFrom("leaves").selectAll().where("leaf_index", ">=", from).orderBy("leaf_index").limit(limit).execute(),

    async lastAppend(): Promise<Row<"appends"> | undefined> {
      return db.selectFrom("appends").selectAll().orderBy("size", "desc").limit(1).executeTakeFirst();
    },

    async leafCount(): Promise<number> {
      const query = db.selectFrom("leaves").select("leaf_index").orderBy("leaf_index", "desc").limit(1);
      return ((await query.executeTakeFirst())?.leaf_index ?? -1) + 1;
    },
  };
}

export function ledgerWrites(db: Db) {
  return {
    /** @param keep depth in blocks: the newest block at least this deep, and all later ones, are kept */
    async add({ leaves, appends, spends, blocks }: LedgerPage, keep: number): Promise<void> {
      for (const rows of chunks(leaves)) await db.insertInto("leaves").values(rows).execute();
      for (const rows of chunks(appends)) await db.insertInto("appends").values(rows).execute();
      for (const rows of chunks(spends)) await db.insertInto("spends").values(rows).execute();
      for (const rows of chunks(blocks)) await db.insertInto("blocks").values(rows).execute();
      const last = blocks.at(-1)?.number;
      if (last === undefined) return;
      const deep = db
        .selectFrom("blocks")
        .select("number")
        .where("number", "<=", last - keep);
      const anchor = await deep.orderBy("number", "desc").limit(1).executeTakeFirst();
      if (anchor !== undefined) await db.deleteFrom("blocks").where("number", "<", anchor.number).execute();
    },

    /** Deletes everything after a block. */
    async rollBack(block: number): Promise<void> {
      await db.deleteFrom("leaves").where("block_number", ">", block).execute();
      await db.deleteFrom("appends").where("block_number", ">", block).execute();
      await db.deleteFrom("spends").where("block_number", ">", block).execute();
      await db.deleteFrom("blocks").where("number", ">", block).execute();
    },
  };
}

function* chunks<T>(rows: readonly T[]): Generator<T[]> {
  for (let i = 0; i < rows.length; i += CHUNK) yield rows.slice(i, i + CHUNK);
}
