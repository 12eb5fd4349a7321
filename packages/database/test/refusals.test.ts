import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startPostgres, type TestPostgres } from "@sotto/test-kit/postgres";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { sql } from "kysely";
import { type DatabaseError, isUnavailable, openDatabase } from "../src/index.ts";

const fixture = (name: string) => join(import.meta.dirname, "fixtures", name);

describe("a PostgreSQL that refuses the program", function () {
  slow(this, "a database server starts");
  let server: TestPostgres;
  let url: string;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server?.stop());
  beforeEach(async () => {
    url = await server.database();
  });

  const options = { name: "test", migrations: {} };
  const open = async (at: string) => {
    const database = await openDatabase({ ...options, url: at });
    await database.ping();
    await database.close();
  };
  const refusal = async (at: string): Promise<DatabaseError> => {
    const error: unknown = await open(at).catch((cause: unknown) => cause);
    if (!(error instanceof Error)) return expect.fail("it was accepted");
    return error as DatabaseError;
  };
  const changed = (change: (parts: URL) => void): string => {
    const parts = new URL(url);
    change(parts);
    return parts.href;
  };
  const withMode = (mode: string, more = "") => `${url}?sslmode=${mode}${more}`;
  /** Runs SQL as the superuser. */
  const run = async (...statements: string[]): Promise<void> => {
    const database = await openDatabase({ ...options, url });
    for (const statement of statements) await sql.raw(statement).execute(database.db);
    await database.close();
  };
  const textOf = (text: string) => `'${text.replaceAll("'", "''")}'`;

  it("is reported by what is wrong", async () => {
    await run("create role limited login password 'right'");
    const wrong: [string, string, RegExp][] = [
      [changed((to) => (to.pathname = "/missing")), "STORE_NOT_FOUND", /"missing" does not exist; create the database/],
      [changed((to) => (to.password = "secret-guess")), "STORE_ACCESS_DENIED", /password authentication failed/],
      [changed((to) => (to.username = "stranger")), "STORE_ACCESS_DENIED", /correct user and password/],
      [changed((to) => (to.password = "")), "STORE_ACCESS_DENIED", /correct user and password/],
      // PostgreSQL 15 and newer let only the owner of a database create tables in the schema public.
      [
        changed((to) => Object.assign(to, { username: "limited", password: "right" })),
        "STORE_ACCESS_DENIED",
        /permission denied/,
      ],
      [withMode("require"), "STORE_TLS_FAILED", /does not support SSL.*sslmode=disable/],
      [`${url}?options=-c%20nothing%3D1`, "STORE_PARAMETER_REFUSED", /remove the parameter/],
    ];
    for (const [at, code, message] of wrong) {
      const error = await refusal(at);
      expect(error.code, at).to.equal(code);
      expect(error.message).to.match(message);
      expect(`${error.message} ${error.stack}`).to.not.include("secret-guess");
      expect(isUnavailable(error), code).to.equal(true);
    }
    await open(url);
  });

  it("is reported by what is wrong while the program runs", async () => {
    await run("create role owner login superuser password 'right'");
    const at = changed((to) => Object.assign(to, { username: "owner", password: "right" }));
    const database = await openDatabase({ ...options, url: at });
    await database.ping();
    await run("alter role owner password 'changed'");
    await server.disconnectAll();
    const ping = (): Promise<{ code?: string }> =>
      database.ping().then(
        () => ({}),
        (cause) => cause as DatabaseError,
      );
    let error = await ping();
    // A connection of the pool may not know yet that it was closed.
    for (let i = 0; i < 10 && error.code === "STORE_UNAVAILABLE"; i += 1) error = await ping();
    expect(error).to.include({ code: "STORE_ACCESS_DENIED" });
    const query: unknown = await sql`select 1`.execute(database.db).catch((cause: unknown) => cause);
    expect(isUnavailable(query)).to.equal(true);
    await run("alter role owner password 'right'");
    await database.ping();
    await database.close();
  });

  it("is not reached with parameters that would have no effect", async () => {
    for (const query of [
      "schema=private",
      "sslmode=allow",
      "sslmode=no",
      "statement_timeout=1",
      "max=3",
      "SSLMODE=require",
    ]) {
      const error = await refusal(`${url}?${query}`);
      expect(error.code, query).to.equal("INVALID_STORE_URL");
    }
    expect((await refusal(`${url}?schema=private`)).message).to.include("search_path");
    await open(`${url}?application_name=sotto&sslmode=disable`);
  });

  it("accepts the user and the password as parameters, as URLs of Unix sockets have them", async () => {
    const { username, password, hostname, port, pathname } = new URL(url);
    const query = new URLSearchParams({ host: hostname, port, user: username, password });
    await open(`postgres://${pathname}?${query}`);
    query.set("password", "secret-guess");
    const error = await refusal(`postgres://${pathname}?${query}`);
    expect(error.code).to.equal("STORE_ACCESS_DENIED");
    expect(`${error.message} ${error.stack}`).to.not.include("secret-guess");
  });

  it("lets a role change rows that may create no tables, once the tables exist", async () => {
    await open(url);
    await run(
      "create role rows_only login password 'right'",
      "grant select, insert, update, delete on all tables in schema public to rows_only",
    );
    await open(changed((to) => Object.assign(to, { username: "rows_only", password: "right" })));
  });

  it("is used without TLS if it offers none and sslmode is prefer, and with TLS if it offers it", async () => {
    const encrypted = async (at: string): Promise<boolean> => {
      const database = await openDatabase({ ...options, url: at });
      const { rows } = await sql<{ ssl: boolean }>`
        select ssl from pg_stat_ssl where pid = pg_backend_pid()`.execute(database.db);
      await database.close();
      return rows[0]!.ssl;
    };
    expect(await encrypted(withMode("prefer"))).to.equal(false);
    const [key, certificate] = ["tls-key.pem", "tls-certificate.pem"].map((name) =>
      readFileSync(fixture(name), "utf8"),
    );
    const copy = (text: string, path: string) =>
      text
        .trim()
        .split("\n")
        .map((line, i) => `copy (select ${textOf(line)}) to program 'umask 077; cat ${i === 0 ? ">" : ">>"} ${path}'`);
    const reload = "select pg_reload_conf()";
    /** A reload takes effect a moment later. */
    const until = async (loaded: () => Promise<boolean>): Promise<void> => {
      const end = Date.now() + 20_000;
      while (!(await loaded()) && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 50));
    };
    await run(
      ...copy(key!, "tls-key.pem"),
      ...copy(certificate!, "tls-certificate.pem"),
      "alter system set ssl_key_file = 'tls-key.pem'",
      "alter system set ssl_cert_file = 'tls-certificate.pem'",
      "alter system set ssl = on",
      reload,
    );
    await until(() => encrypted(withMode("prefer")));
    expect(await encrypted(withMode("prefer"))).to.equal(true);
    expect(await encrypted(withMode("verify-full", `&sslrootcert=${fixture("tls-certificate.pem")}`))).to.equal(true);
    expect(await encrypted(withMode("disable"))).to.equal(false);
    for (const mode of ["require", "verify-ca", "verify-full"]) {
      const untrusted = await refusal(withMode(mode));
      expect(untrusted.code, mode).to.equal("STORE_TLS_FAILED");
      expect(untrusted.message).to.include("sslrootcert");
    }
    expect(await encrypted(withMode("require", "&uselibpqcompat=true"))).to.equal(true);
    // From now on, the server requires TLS.
    await run(`copy (select 'hostssl all all all scram-sha-256') to program 'cat > pg_hba.conf'`, reload);
    await until(() =>
      open(url).then(
        () => false,
        () => true,
      ),
    );
    expect((await refusal(url)).code).to.equal("STORE_TLS_FAILED");
    expect(await encrypted(withMode("prefer"))).to.equal(true);
  });
});
