import { join } from "node:path";
import { SottoError } from "@sotto/protocol";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { sql } from "kysely";
import { DatabaseError, isUnavailable, openDatabase } from "../src/index.ts";

describe("a database that cannot answer", () => {
  const tells = (fields: object, message = "failed") => isUnavailable(Object.assign(new Error(message), fields));

  it("is unavailable, not a query error", () => {
    const now = {
      standby: "25006",
      cancelled: "57014",
      idle: "25P03",
      serial: "40001",
      deadlock: "40P01",
      lock: "55P03",
    };
    for (const [what, code] of Object.entries(now)) expect(tells({ code }), what).to.equal(true);
    expect(tells({}, "Query read timeout")).to.equal(true);
    const sqlite = (message: string) => tells({ code: "ERR_SQLITE_ERROR" }, message);
    expect(sqlite("attempt to write a readonly database")).to.equal(true);
    const wrong = { duplicate: "23505", table: "42P01", range: "22003", transaction: "25P02" };
    for (const [what, code] of Object.entries(wrong)) expect(tells({ code }), what).to.equal(false);
    expect(sqlite("UNIQUE constraint failed: operations.id")).to.equal(false);
  });

  it("is not confused with network errors of other components", () => {
    const cause = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), { code: "ECONNREFUSED" });
    expect(isUnavailable(cause)).to.equal(true);
    expect(isUnavailable(new SottoError("NODE_UNREACHABLE", "no node responds", {}, { cause }))).to.equal(false);
    expect(isUnavailable(new DatabaseError("STORE_UNAVAILABLE", "no answer", {}, { cause }))).to.equal(true);
  });

  it("reports a SQLite file that became read-only", async () => {
    const folder = temporaryFolder("database");
    const options = { name: "test", migrations: {} };
    const database = await openDatabase({ ...options, url: `sqlite:${join(folder, "store")}` });
    await sql`pragma query_only = on`.execute(database.db);
    const error = await sql`create table late (number integer)`.execute(database.db).catch((cause: unknown) => cause);
    expect(isUnavailable(error)).to.equal(true);
    await database.close();
  });
});
