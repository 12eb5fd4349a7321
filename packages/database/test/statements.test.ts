import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { Kysely, sql } from "kysely";
import { NodeSqliteDialect } from "../src/sqlite-dialect.ts";

interface Schema {
  counters: { name: string; value: number };
}

describe("SQLite statements", () => {
  let file: DatabaseSync;
  let db: Kysely<Schema>;
  const prepared: string[] = [];
  beforeEach(async () => {
    file = new DatabaseSync(":memory:");
    prepared.length = 0;
    const prepare = file.prepare.bind(file);
    file.prepare = (text) => {
      prepared.push(text);
      return prepare(text);
    };
    db = new Kysely<Schema>({ dialect: new NodeSqliteDialect(file) });
    await sql`create table counters (name text primary key, value integer not null)`.execute(db);
  });
  afterEach(() => db.destroy());

  const insert = (name: string) => db.insertInto("counters").values({ name, value: 1 }).execute();
  const read = () => db.selectFrom("counters").selectAll().orderBy("name").execute();

  it("are prepared once", async () => {
    for (const name of ["a", "b", "c"]) {
      await insert(name);
      await read();
    }
    expect(prepared.filter((text) => text.startsWith("insert"))).to.have.length(1);
    expect(prepared.filter((text) => text.startsWith("select"))).to.have.length(1);
    expect(await read()).to.deep.equal(["a", "b", "c"].map((name) => ({ name, value: 1 })));
  });

  it("work again after one failed", async () => {
    await insert("a");
    const failure: unknown = await insert("a").catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error);
    await insert("b");
    expect(await read()).to.have.length(2);
  });

  it("return the columns that a table has after it changed", async () => {
    await insert("a");
    await read();
    await sql`alter table counters add column note text`.execute(db);
    expect(await read()).to.deep.equal([{ name: "a", value: 1, note: null }]);
  });

  it("are kept up to a limit, the ones used last", async () => {
    const readSome = (count: number) =>
      db
        .selectFrom("counters")
        .selectAll()
        .where(
          "name",
          "in",
          Array.from({ length: count }, (_, index) => String(index)),
        )
        .execute();
    await read();
    for (let count = 1; count <= 300; count += 1) {
      await readSome(count);
      await read();
    }
    const before = prepared.length;
    await read();
    await readSome(300);
    expect(prepared).to.have.length(before);
    await readSome(1);
    expect(prepared).to.have.length(before + 1);
  });
});
