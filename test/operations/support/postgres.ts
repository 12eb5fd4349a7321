// A server of PostgreSQL with a database `sotto`: the installed one if there is one, because only that has pg_dump.
import { installedPostgres, startPostgres } from "@sotto/test-kit/postgres";
import pg from "pg";

export interface Postgres {
  /** Whether pg_dump, pg_restore and psql of the server's version are installed. */
  readonly hasTools: boolean;
  /** Variables for them, with PATH. */
  readonly variables: Readonly<Record<string, string>>;
  url(database: string): string;
  query(sql: string): Promise<pg.QueryResult>;
  stop(): Promise<void>;
}

export async function openPostgres(): Promise<Postgres> {
  const installed = installedPostgres();
  const server = await startPostgres(installed);
  const first = new URL(await server.database());
  const url = (database: string) => Object.assign(new URL(first), { pathname: `/${database}` }).href;
  const query = async (sql: string) => {
    const client = new pg.Client(url("postgres"));
    await client.connect();
    return client.query(sql).finally(() => client.end());
  };
  await query("create database sotto");
  const variables = {
    PATH: installed === undefined ? process.env["PATH"]! : `${installed}:${process.env["PATH"]}`,
    PGHOST: first.hostname,
    PGPORT: first.port,
    PGUSER: first.username,
    PGPASSWORD: first.password,
  };
  return { hasTools: installed !== undefined, variables, url, query, stop: () => server.stop() };
}
