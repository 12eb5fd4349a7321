// A static server for the page: its files, its configuration and the circuits' artifacts. Any web server does.
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

/** Nothing is evaluated but modules of this origin and WebAssembly; where the page may connect to is the caller's. */
const policy = (connect: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "style-src 'self'",
    "worker-src 'self'",
    `connect-src 'self' ${connect.join(" ")}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

export interface PageServer {
  readonly url: string;
  close(): Promise<void>;
}

export interface PageOptions {
  /** What `buildPage` made. */
  folder: string;
  /** Folder with the circuits' artifacts, served below artifacts/. */
  artifacts: string;
  /** config.json. */
  config: object;
  /** Origins the page may connect to. */
  connect: readonly string[];
  port?: number;
}

export async function servePage(options: PageOptions): Promise<PageServer> {
  const { folder, artifacts, config, connect, port = 0 } = options;
  const fileOf = (path: string): string => {
    const clean = normalize(path).replace(/^[/\\]+/, "");
    if (clean.startsWith("artifacts/")) return join(artifacts, clean.slice("artifacts/".length));
    return join(folder, clean === "" ? "index.html" : clean);
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://page");
    const headers = {
      "content-security-policy": policy(connect),
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    };
    if (pathname === "/config.json") {
      response.writeHead(200, { ...headers, "content-type": "application/json" }).end(JSON.stringify(config));
      return;
    }
    const file = fileOf(pathname);
    if (request.method !== "GET" || statSync(file, { throwIfNoEntry: false })?.isFile() !== true) {
      response.writeHead(404, headers).end();
      return;
    }
    const type = TYPES[extname(file)] ?? "application/octet-stream";
    response.writeHead(200, { ...headers, "content-type": type });
    createReadStream(file).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}
