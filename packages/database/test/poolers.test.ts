import { startPooler, type TestPooler } from "@sotto/test-kit/pooler";
import { startPostgres, type TestPostgres } from "@sotto/test-kit/postgres";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { type Kysely, sql } from "kysely";
import { type Database, type Migrations, openDatabase } from "../src/index.ts";

interface Schema {
  counters: { name: string; value: number };
}
const migrations: Migrations = {
  "0001-counters": {
    up: (db: Kysely<unknown>) =>
      sql`create table counters (name text primary key, value bigint not null)`.execute(db).then(() => undefined),
  },
};
interface Limits {
  statement: string;
  idle: string;
}
const limits = async (db: Kysely<Schema>): Promise<Limits> => {
  const { rows } = await sql<Limits>`
    select current_setting('statement_timeout') as statement,
      current_setting('idle_in_transaction_session_timeout') as idle`.execute(db);
  return rows[0]!;
};
const LIMITED = { statement: "20s", idle: "5s" };
const UNLIMITED = { statement: "0", idle: "0" };

describe("a pooler that refuses startup parameters and shares connections between transactions", function () {
  slow(this, "a database server starts");
  let server: TestPostgres;
  let pooler: TestPooler;
  let direct: string;
  const opened: Database<Schema>[] = [];
  const open = async (url: string): Promise<Database<Schema>> => {
    const database = await openDatabase<Schema>({ url, name: "test", migrations });
    opened.push(database);
    return database;
  };
  before(async () => {
    server = await startPostgres();
  });
  after(() => server?.stop());
  beforeEach(async () => {
    direct = await server.database();
    pooler = await startPooler(direct);
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
    await pooler.stop();
  });

  it("loses no concurrent transaction", async () => {
    const databases = [await open(pooler.url), await open(pooler.url)];
    const increment = (database: Database<Schema>) =>
      database.transaction(["a"], async (db) => {
        const row = await db.selectFrom("counters").select("value").executeTakeFirst();
        await new Promise((resolve) => setTimeout(resolve, 1));
        const value = (row?.value ?? 0) + 1;
        const insert = db.insertInto("counters").values({ name: "a", value });
        await insert.onConflict((conflict) => conflict.column("name").doUpdateSet({ value })).execute();
      });
    await Promise.all(Array.from({ length: 24 }, (_, i) => increment(databases[i % 2]!)));
    const rows = await databases[0]!.db.selectFrom("counters").selectAll().execute();
    expect(rows).to.deep.equal([{ name: "a", value: 24 }]);
    const seen = await databases[0]!.snapshot((db) => db.selectFrom("counters").selectAll().execute());
    expect(seen).to.deep.equal(rows);
  });

  it("sets the limits in each transaction, and leaves none on a shared connection", async () => {
    const database = await open(pooler.url);
    for (let i = 0; i < 6; i += 1) {
      expect(await database.transaction([], limits)).to.deep.equal(LIMITED);
      expect(await database.snapshot(limits)).to.deep.equal(LIMITED);
      expect(await limits(database.db)).to.deep.equal(UNLIMITED);
    }
  });

  it("is not needed: a direct connection has the limits outside transactions too", async () => {
    const database = await open(direct);
    expect(await limits(database.db)).to.deep.equal(LIMITED);
    expect(await database.transaction([], limits)).to.deep.equal(LIMITED);
    expect(await database.snapshot(limits)).to.deep.equal(LIMITED);
  });

  it("is named with the parameter that it refuses", async () => {
    const options = { name: "test", migrations };
    const url = `${pooler.url}?options=-c%20search_path%3Dpublic`;
    const error: unknown = await openDatabase({ ...options, url }).catch((cause: unknown) => cause);
    expect(error).to.include({ code: "STORE_PARAMETER_REFUSED" });
    expect((error as Error).message).to.include("unsupported startup parameter: options");
    const database = await open(`${direct}?options=-c%20application_name%3Dtest`);
    await database.ping();
  });
});
