// A host of the web app and a faucet, as `npm run dev` starts them.
import { existsSync, readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { createFaucet, type FaucetOptions } from "@sotto/dev/faucet";
import { createWebHost } from "@sotto/dev/web";

/** Output of `turbo run build` for packages/web. */
const DIST = join(import.meta.dirname, "..", "..", "..", "packages", "web", "dist");

export interface Host {
  readonly url: string;
  readonly faucetUrl: string;
  /** Content of sotto.json; undefined if the host has none. */
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

/** Serves the app's files without extra headers and without sotto.json. */
export const createPlainHost = (): RequestListener => (request, response) => {
  const path = new URL(request.url ?? "/", "http://host").pathname;
  const file = join(DIST, path === "/" ? "index.html" : path);
  if (!existsSync(file)) return void response.writeHead(404).end();
  const type = TYPES[extname(file)];
  response.writeHead(200, type === undefined ? {} : { "content-type": type }).end(readFileSync(file));
};

const TYPES: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

/** Listens on a free port. */
export async function listen(handler: RequestListener) {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}
