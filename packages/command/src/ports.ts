// Ports of the programs that a command starts; for a port that is in use, finds the process that uses it.
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";
import { promisify } from "node:util";
import { CommandError } from "./command.ts";

/** Only this machine reaches it: the servers that commands start serve every caller, some with published private keys. */
export const HOST = "127.0.0.1";

/** @param ports by purpose @throws CommandError PORT_BUSY, PORT_DENIED */
export async function assertFree<Name extends string>(ports: Readonly<Record<Name, number>>): Promise<void> {
  for (const [name, port] of Object.entries<number>(ports)) {
    const code = await probe(port);
    if (code === undefined) continue;
    if (code !== "EADDRINUSE")
      throw new CommandError(
        "PORT_DENIED",
        `port ${port} (${name}) cannot be opened: ${code}; choose others with --port`,
      );
    const owner = await ownerOf(port);
    const by = owner === undefined ? "" : ` by ${owner}`;
    throw new CommandError("PORT_BUSY", `port ${port} (${name}) is in use${by}; end it, or choose others with --port`);
  }
}

/** @returns the error's code, or undefined if the port is free */
const probe = (port: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, HOST, () => server.close(() => resolve(undefined)));
  });

/** The process that listens on a port, for example `node (process 812)`; undefined if the system does not show it. */
export async function ownerOf(port: number): Promise<string | undefined> {
  try {
    return process.platform === "linux" ? ownerOnLinux(port) : await ownerByLsof(port);
  } catch {
    // The process belongs to another user, or the system lacks these tools.
    return undefined;
  }
}

function ownerOnLinux(port: number): string | undefined {
  const end = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const inodes = ["tcp", "tcp6"].flatMap((table) =>
    readFileSync(`/proc/net/${table}`, "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      // Columns: number, local address, remote address, state (0A: listens), .., inode.
      .filter(([, local, , state]) => local?.endsWith(end) && state === "0A")
      .map((columns) => `socket:[${columns[9]}]`),
  );
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const id = processes.find((candidate) => {
    try {
      const folder = `/proc/${candidate}/fd`;
      return readdirSync(folder).some((file) => inodes.includes(readlinkSync(`${folder}/${file}`)));
    } catch {
      // The process has ended, or belongs to another user.
      return false;
    }
  });
  return id === undefined ? undefined : `${readFileSync(`/proc/${id}/comm`, "utf8").trim()} (process ${id})`;
}

async function ownerByLsof(port: number): Promise<string | undefined> {
  const { stdout } = await promisify(execFile)("lsof", ["-nP", `-iTCP:${port}`, "-sTCP:LISTEN", "-Fpc"]);
  const id = /^p(\d+)$/m.exec(stdout)?.[1];
  const name = /^c(.+)$/m.exec(stdout)?.[1];
  return id === undefined ? undefined : `${name ?? "a process"} (process ${id})`;
}
