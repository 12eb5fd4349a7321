import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { EVERY_DATABASE, overDatabases } from "@sotto/test-kit/databases";
import { startPostgres, type TestPostgres } from "@sotto/test-kit/postgres";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { type Kysely, sql } from "kysely";
import { type Database, isUnavailable, type Migrations, type OpenOptions, openDatabase } from "../src/index.ts";

interface Schema {
  counters: { name: string; value: number };
}

const counters: Migrations = {
  "0001-counters": {
    up: (db: Kysely<unknown>) =>
      db.schema
        .createTable("counters")
        .addColumn("name", "text", (column) => column.primaryKey())
        .addColumn("value", "bigint", (column) => column.notNull())
        .execute(),
  },
};

async function refusal(promise: Promise<unknown>): Promise<Error & { code?: string }> {
  const failure = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(failure instanceof Error)) throw new Error("expected a refusal");
  return failure;
}

overDatabases("database", EVERY_DATABASE, (newUrl) => {
  let url = "";
  const opened: Database<Schema>[] = [];
  const open = async (change: Partial<OpenOptions> = {}): Promise<Database<Schema>> => {
    const database = await openDatabase<Schema>({ url, name: "test", migrations: counters, ...change });
    opened.push(database);
    return database;
  };
  beforeEach(async () => {
    url = await newUrl();
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });

  /** Reads, waits and writes: an increment is lost if two of these run concurrently. */
  const increment = (database: Database<Schema>, key: string, counter = "a") =>
    database.transaction([key], async (db) => {
      const row = await db.selectFrom("counters").select("value").where("name", "=", counter).executeTakeFirst();
      await new Promise((resolve) => setTimeout(resolve, 1));
      const value = (row?.value ?? 0) + 1;
      const insert = db.insertInto("counters").values({ name: counter, value });
      await insert.onConflict((conflict) => conflict.column("name").doUpdateSet({ value })).execute();
    });
  const valueIn = async ({ db }: Database<Schema>, counter = "a") =>
    (await db.selectFrom("counters").select("value").where("name", "=", counter).executeTakeFirst())?.value;

  it("serializes transactions with the same key across connections", async () => {
    const [one, two] = [await open(), await open()];
    await Promise.all(Array.from({ length: 24 }, (_, i) => increment(i % 2 ? one : two, "key")));
    expect(await valueIn(one)).to.equal(24);
  });

  it("locks several keys in a fixed order, so that no deadlock occurs", async () => {
    const [one, two] = [await open(), await open()];
    const pairs = [
      ["x", "y"],
      ["y", "x"],
      ["x", "y", "x"],
    ];
    await Promise.all(
      Array.from({ length: 18 }, (_, i) =>
        (i % 2 ? one : two).transaction(pairs[i % 3]!, async (db) => {
          await sql`select 1`.execute(db);
        }),
      ),
    );
  });

  it("reads a consistent snapshot during concurrent writes", async () => {
    const [one, two] = [await open(), await open()];
    await increment(one, "key");
    let written: Promise<void> | undefined;
    const seen = await one.snapshot(async (db) => {
      const before = await db.selectFrom("counters").select("value").execute();
      written = increment(two, "key");
      // PostgreSQL writes immediately; on SQLite the write waits for the end of the snapshot.
      if (one.kind === "postgres") await written;
      return [before, await db.selectFrom("counters").select("value").execute()];
    });
    expect(seen).to.deep.equal([[{ value: 1 }], [{ value: 1 }]]);
    await written;
    expect(await valueIn(one)).to.equal(2);
  });

  it("rolls back a failed transaction, and continues", async () => {
    const database = await open();
    await increment(database, "key");
    const error = await refusal(
      database.transaction(["key"], async (db) => {
        await db.updateTable("counters").set({ value: 99 }).execute();
        throw new Error("changed my mind");
      }),
    );
    expect(error.message).to.equal("changed my mind");
    expect(await valueIn(database)).to.equal(1);
    await increment(database, "key");
    expect(await valueIn(database)).to.equal(2);
  });

  it("returns 64-bit columns, changed row counts and returned rows", async () => {
    const { db } = await open();
    await db
      .insertInto("counters")
      .values({ name: "a", value: 2 ** 53 - 1 })
      .execute();
    const bump = db.updateTable("counters").set({ value: 5 }).where("name", "=", "a");
    expect((await bump.executeTakeFirst()).numUpdatedRows).to.equal(1n);
    expect(await bump.returning(["name", "value"]).execute()).to.deep.equal([{ name: "a", value: 5 }]);
    const none = db.deleteFrom("counters").where("name", "=", "nobody");
    expect((await none.executeTakeFirst()).numDeletedRows).to.equal(0n);
  });

  it("migrates once under concurrency, and keeps existing rows", async () => {
    const first = await Promise.all([open(), open(), open()]);
    await increment(first[0]!, "key");
    const migrations: Migrations = {
      ...counters,
      "0002-more": { up: (db) => sql`update counters set value = value + 10`.execute(db).then(() => undefined) },
    };
    const later = await Promise.all([open({ migrations }), open({ migrations })]);
    expect(await valueIn(later[0]!)).to.equal(11);
    // The older program does not change the newer tables.
    const error = await refusal(open());
    expect(error).to.include({ code: "STORE_TOO_NEW" });
    expect(error.message).to.match(
      /^the database has migrations that this program lacks: \W?0002-more\W?; start the newer/,
    );
  });

  it("rolls back a failed migration completely", async () => {
    const broken: Migrations = {
      ...counters,
      "0002-broken": {
        async up(db) {
          await sql`create table half (id text)`.execute(db);
          throw new Error("no");
        },
      },
    };
    expect((await refusal(open({ migrations: broken }))).message).to.equal("no");
    const { db } = await open({ migrations: {}, name: "other" });
    const tables = (await db.introspection.getTables()).map((table) => table.name);
    expect(tables).not.to.include("half");
  });

  it("tracks migrations per program", async () => {
    await open();
    const migrations: Migrations = {
      "0001-own": { up: (db) => sql`create table own (id text)`.execute(db).then(() => undefined) },
    };
    await open({ name: "other", migrations });
    await open({ name: "other", migrations });
    await open();
  });

  it("reports each query without its values", async () => {
    const queries: string[] = [];
    const database = await open({ onQuery: (text) => queries.push(text) });
    queries.length = 0;
    await database.db.insertInto("counters").values({ name: "secret", value: 1 }).execute();
    expect(queries).to.have.length(1);
    expect(queries[0])
      .to.match(/^insert into "counters"/)
      .and.not.to.contain("secret");
  });

  it("uses one clock", async () => {
    const database = await open({ clock: () => 123 });
    const now = await database.now();
    if (database.kind === "sqlite") expect(now).to.equal(123);
    else expect(Math.abs(now - Date.now())).to.be.lessThan(60_000);
  });

  it("is unavailable after close", async () => {
    const database = await open();
    await database.ping();
    await database.close();
    expect(await refusal(database.ping())).to.include({ code: "STORE_UNAVAILABLE" });
  });
});

describe("database URLs and names", () => {
  const options = { name: "test", migrations: {} };

  it("are checked before anything is opened", async () => {
    for (const url of ["", "sqlite:", "mysql://x", "postgres//x", "postgres://"])
      expect((await refusal(openDatabase({ ...options, url }))).code).to.be.oneOf([
        ...["INVALID_STORE_URL", "STORE_UNAVAILABLE"],
      ]);
    for (const name of ["", "Test", "a b", 'x"; drop table y', "x".repeat(33)])
      expect(await refusal(openDatabase({ ...options, name, url: "sqlite::memory:" }))).to.be.instanceOf(TypeError);
  });

  it("create a file that only its owner can read, and its folder", async () => {
    const folder = temporaryFolder("database");
    const path = join(folder, "new", "sotto.db");
    await (await openDatabase({ ...options, url: `sqlite:${path}` })).close();
    expect(existsSync(path) && statSync(path).mode & 0o777).to.equal(0o600);
    const error = await refusal(openDatabase({ ...options, url: `sqlite:${folder}` }));
    expect(error).to.include({ code: "STORE_UNAVAILABLE" });
  });

  it("can make SQLite overwrite deleted rows", async () => {
    const folder = temporaryFolder("database");
    const remains = async (secureDelete: boolean): Promise<boolean> => {
      const path = join(folder, `${secureDelete}.db`);
      const open = { ...options, url: `sqlite:${path}`, secureDelete, migrations: counters };
      const database = await openDatabase<Schema>(open);
      for (let i = 0; i < 50; i += 1)
        await database.db
          .insertInto("counters")
          .values({ name: `to be forgotten ${i}`, value: i })
          .execute();
      await database.scrub();
      await database.db.deleteFrom("counters").execute();
      await database.scrub();
      const files = [path, `${path}-wal`].map((file) => readFileSync(file));
      await database.close();
      return files.some((bytes) => bytes.includes("to be forgotten"));
    };
    expect([await remains(false), await remains(true)]).to.deep.equal([true, false]);
  });

  it("cause a different error than a wrong query if unreachable, and hide the password", async () => {
    const error = await refusal(openDatabase({ ...options, url: "postgres://postgres:secret@127.0.0.1:9/none" }));
    expect(error).to.include({ code: "STORE_UNAVAILABLE" });
    expect(`${error.message} ${error.stack}`).not.to.contain("secret");
    expect(isUnavailable(error.cause)).to.equal(true);
    const database = await openDatabase({ ...options, url: "sqlite::memory:" });
    expect(isUnavailable(await refusal(sql`select nothing from nowhere`.execute(database.db)))).to.equal(false);
    await database.close();
  });
});

describe("a ping", () => {
  it("fails if SQLite's disk is full, although reads still work", async function () {
    slow(this, "processes start");
    const folder = temporaryFolder("database");
    const child = join(import.meta.dirname, "support", "ping-until-full.ts");
    /** @param blocks largest file that the process may write, of 512 bytes each (some shells': 1024) */
    const run = (blocks: string, pings: number) => {
      const program = [process.execPath, child, join(folder, `${blocks}.db`), String(pings)];
      const command = ["-c", `ulimit -f ${blocks}; exec "$@"`, "sh", ...program];
      const { status, stdout, stderr } = spawnSync("sh", command, { encoding: "utf8" });
      expect([status, stderr]).to.deep.equal([0, ""]);
      return JSON.parse(stdout) as { pings: number; code?: string; reads: number };
    };
    const full = run("200", 10_000);
    expect(full).to.deep.include({ code: "STORE_UNAVAILABLE", reads: 1 });
    expect(full.pings).to.be.greaterThan(1);
    expect(run("unlimited", 700), "the control").to.deep.equal({ pings: 700, reads: 1 });
  });

  it("fails if PostgreSQL takes only reads, as a standby does", async () => {
    const server = await startPostgres();
    try {
      const database = await openDatabase({
        url: await server.database(),
        name: "test",
        migrations: {},
        onError: () => undefined,
      });
      await database.ping();
      const reader = await openDatabase({
        url: await server.database(),
        name: "test",
        migrations: {},
        onError: () => undefined,
      });
      await sql`alter role postgres set default_transaction_read_only = on`.execute(database.db);
      await server.disconnectAll();
      const read = async () => (await sql`select 1 as one`.execute(reader.db)).rows;
      // The pool may not know yet that its connection was closed.
      expect(await read().catch(read).catch(read)).to.deep.equal([{ one: 1 }]);
      const error = await refusal(reader.ping());
      expect(error).to.include({ code: "STORE_UNAVAILABLE" });
      expect(error.cause).to.include({ code: "25006" });
      expect(await read()).to.deep.equal([{ one: 1 }]);
      await Promise.all([database.close(), reader.close()]);
    } finally {
      await server.stop();
    }
  });
});

describe("a PostgreSQL that restarts", () => {
  let server: TestPostgres;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server?.stop());

  it("reconnects and reports the loss", async () => {
    const losses: Error[] = [];
    const onError = (error: Error) => losses.push(error);
    const url = await server.database();
    const database = await openDatabase<Schema>({ url, name: "test", migrations: counters, onError });
    await database.ping();
    const interrupted = database.transaction(["key"], async (db) => {
      await db.insertInto("counters").values({ name: "lost", value: 1 }).execute();
      await server.disconnectAll();
      await sql`select 1`.execute(db);
    });
    expect(isUnavailable(await refusal(interrupted))).to.equal(true);
    expect(losses.length).to.be.greaterThan(0);
    await database.ping();
    expect(await database.db.selectFrom("counters").selectAll().execute()).to.deep.equal([]);
    await database.close();
  });
});

describe("the tests' PostgreSQL", () => {
  const { TMPDIR } = process.env;
  let folder: string;
  beforeEach(() => {
    // Every user may enter /tmp, and TMPDIR may be elsewhere.
    folder = mkdtempSync("/tmp/sotto-database-");
  });
  afterEach(() => {
    if (TMPDIR === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = TMPDIR;
  });

  it("starts although no other user may enter TMPDIR, and leaves nothing there", async () => {
    process.env["TMPDIR"] = folder;
    const server = await startPostgres();
    const database = await openDatabase({
      url: await server.database(),
      name: "test",
      migrations: {},
      onError: () => {},
    });
    await database.ping();
    await database.close();
    await server.stop();
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it("says at once why it does not start", async () => {
    // Sockets have shorter paths.
    process.env["TMPDIR"] = join(folder, "long".repeat(40));
    mkdirSync(process.env["TMPDIR"]);
    for (const path of [folder, process.env["TMPDIR"]]) chmodSync(path, 0o755);
    const error = await refusal(startPostgres());
    expect(error.message).to.match(/^PostgreSQL did not start:\n(?:.|\n)*Unix-domain socket path .* is too long/);
    expect(readdirSync(process.env["TMPDIR"])).to.deep.equal([]);
  });
});
