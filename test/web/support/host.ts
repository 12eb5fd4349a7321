// A host of the web app and a faucet, as `npm run dev` starts them.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createFaucet, type FaucetOptions } from "../../../scripts/dev/faucet.ts";
import { createWebHost } from "../../../scripts/dev/web.ts";

/** What `turbo run build` makes of packages/web. */
const DIST = join(import.meta.dirname, "..", "..", "..", "packages", "web", "dist");

export interface Host {
  readonly url: string;
  readonly faucetUrl: string;
  /** Content of sotto.json; undefined: the host has none. */
  config: object | undefined;
  close(): Promise<void>;
}

export async function openHost(faucet: FaucetOptions): Promise<Host> {
  const host = { config: undefined as object | undefined };
  const files = createWebHost(DIST, () => host.config ?? {});
  const web = await listen((request, response) => {
    if (host.config !== undefined || request.url !== "/sotto.json") return files(request, response);
    response.writeHead(404).end();
  });
  const minting = await listen(createFaucet(faucet));
  const close = async () => {
    await web.close();
    await minting.close();
  };
  return Object.assign(host, { url: web.url, faucetUrl: minting.url, close });
}

async function listen(handler: RequestListener) {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}
