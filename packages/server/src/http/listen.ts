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
