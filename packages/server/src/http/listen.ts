import { createServer } from "node:net";
import { ServerError } from "../errors.ts";
import type { App } from "./types.ts";

/**
 * @param port 0 for any free one
 * @returns where the root of the server is
 * @throws ServerError PORT_UNAVAILABLE
 */
export async function listen(app: App, { host, port }: { host: string; port: number }): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (cause) {
    const { code = "" } = cause as { code?: string };
    if (!/^(EADDR|EACCES|ENOTFOUND)/.test(code)) throw cause;
    throw new ServerError("PORT_UNAVAILABLE", `${host}:${port} cannot be listened on (${code})`, { port }, { cause });
  }
}

/**
 * A port that was free a moment ago: for servers that have to know their address before they listen. Somebody else may
 * take it in between, so not for production.
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
