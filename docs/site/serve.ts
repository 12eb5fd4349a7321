// Serves the built site on this machine.
import { join } from "node:path";
import { preview } from "vite";

/** What `npm run docs` builds. */
export const SITE = join(import.meta.dirname, "build", "site");

export interface Server {
  readonly url: string;
  close(): Promise<void>;
}

/** @param port the first port to try */
export async function serveSite(port: number): Promise<Server> {
  const server = await preview({
    root: import.meta.dirname,
    configFile: false,
    // A missing page gets a 404, not the first page.
    appType: "mpa",
    build: { outDir: SITE },
    preview: { host: "127.0.0.1", port },
  });
  const url = server.resolvedUrls?.local[0];
  if (url === undefined) throw new Error("the server has no address");
  return { url, close: () => server.close() };
}
