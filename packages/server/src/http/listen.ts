import { once } from "node:events";
import { createServer } from "node:net";
import { ServerError } from "../errors.ts";
import type { App } from "./types.ts";

/** Ports that no common system assigns automatically: Linux assigns from 32,768 on, others from 49,152 on. */
const FREE_PORTS = { first: 10_000, count: 20_000 };
/** Ports that freePort tries. */
const TRIES = 50;

/**
 * Starts to listen.
 * @param port 0 for any free port
 * @returns the URL of the server's root
 * @throws ServerError PORT_UNAVAILABLE
 */
export async function listen(app: App, { host, port }: { host: string; port: number }): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (cause) {
    throw portError(cause, host, port);
  }
}

/**
 * Finds a free port, for servers that need their address before they listen. It is outside the range that systems assign
 * automatically; otherwise any connection could take the port first.
 * @param host address to listen on
 * @throws ServerError PORT_UNAVAILABLE
 */
export async function freePort(host: string): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const port = FREE_PORTS.first + Math.floor(Math.random() * FREE_PORTS.count);
    const probe = createServer();
    try {
      await once(probe.listen(port, host), "listening");
    } catch (cause) {
      const { code } = cause as { code?: string };
      if (tries < TRIES && (code === "EADDRINUSE" || code === "EACCES")) continue;
      throw portError(cause, host, port);
    }
    await once(probe.close(), "close");
    return port;
  }
}

/** @returns PORT_UNAVAILABLE if the system refused the address, else the error itself */
export function portError(cause: unknown, host: string, port: number): unknown {
  const { code = "" } = cause as { code?: string };
  if (!/^(EADDR|EACCES|ENOTFOUND)/.test(code)) return cause;
  return new ServerError("PORT_UNAVAILABLE", `cannot listen on ${host}:${port} (${code})`, { port }, { cause });
}

/**
 * Finds the base URL of a server before it listens: the configured one, or the one that it will listen on.
 * @param service the configured base URL
 * @returns the base URL, and the port to listen on
 */
export async function addressOf(
  { host, port, basePath }: { readonly host: string; readonly port: number; readonly basePath: string },
  service: string | undefined,
): Promise<{ readonly port: number; readonly service: string }> {
  if (service !== undefined) return { port, service };
  const chosen = port === 0 ? await freePort(host) : port;
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  return { port: chosen, service: `http://${name}:${chosen}${basePath}` };
}
