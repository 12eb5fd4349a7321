// A host of the web app: its built files under the recommended content policy, sotto.json, and a faucet.
import { createReadStream, statSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { parseAddress } from "@sotto/protocol";

/** What `turbo run build` makes of packages/web. */
const DIST = join(import.meta.dirname, "..", "..", "..", "packages", "web", "dist");

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
};

/** docs/web.md recommends it to operators. */
export const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "worker-src 'self'",
  "connect-src 'self' https: http://127.0.0.1:* http://localhost:*",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export interface Host {
  readonly url: string;
  /** Content of sotto.json; undefined: 404. */
  config: object | undefined;
  close(): Promise<void>;
}

/** @param mint mints test tokens to an address, for `POST /faucet/drip` */
export async function openHost(mint: (address: string) => Promise<void>): Promise<Host> {
  const host = { config: undefined as object | undefined };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://host");
    if (request.method === "POST" && pathname === "/faucet/drip") return void drip(request, response, mint);
    response.setHeader("content-security-policy", CONTENT_POLICY);
    response.setHeader("x-content-type-options", "nosniff");
    response.setHeader("referrer-policy", "no-referrer");
    if (pathname === "/sotto.json" && host.config !== undefined)
      return void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(host.config));
    const path = normalize(pathname).replace(/^[/\\]+/, "");
    const file = join(DIST, path === "" ? "index.html" : path);
    if (request.method !== "GET" || statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
      return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
    createReadStream(file).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return Object.assign(host, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close });
}

async function drip(request: IncomingMessage, response: ServerResponse, mint: (address: string) => Promise<void>) {
  let body = "";
  for await (const chunk of request) body += chunk;
  await mint(parseAddress(JSON.parse(body).address, "address"));
  response.writeHead(200, { "content-type": "application/json" }).end("{}");
}
