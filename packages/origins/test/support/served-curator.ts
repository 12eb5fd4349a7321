// A curator's web server, with its files and its endpoint for claims. Pages of any origin may read it.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { MemoryCurator } from "./memory-curator.ts";

const BASE = "http://curator.local";
const CORS = { "access-control-allow-origin": "*", "access-control-allow-headers": "content-type" };

export interface ServedCurator {
  readonly url: string;
  /** Method and path of every request, in order. */
  readonly asked: readonly string[];
  close(): void;
}

/** Serves a curator on a free port of this machine. */
export async function serveCurator(curator: MemoryCurator): Promise<ServedCurator> {
  const asked: string[] = [];
  const answer = curator.fetch(BASE);
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { method = "GET", url = "/" } = request;
    if (method === "OPTIONS") return void response.writeHead(204, CORS).end();
    asked.push(`${method} ${url}`);
    const found = await answer(BASE + url, { method, ...(body.length > 0 && { body }) });
    response.writeHead(found.status, CORS).end(Buffer.from(await found.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, asked, close };
}
