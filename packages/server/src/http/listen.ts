import { createServer } from "node:net";
import { ServerError } from "../errors.ts";
import type { App } from "./types.ts";

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
    const { code = "" } = cause as { code?: string };
    if (!/^(EADDR|EACCES|ENOTFOUND)/.test(code)) throw cause;
    throw new ServerError("PORT_UNAVAILABLE", `cannot listen on ${host}:${port} (${code})`, { port }, { cause });
  }
}

/**
 * Finds a free port, for servers that need their address before they listen. Another process may take the port first, so do
 * not use it in production.
 */
export function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, host, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
