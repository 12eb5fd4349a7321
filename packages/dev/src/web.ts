// Serves the web app's files as a host should: with a strict content security policy, and with sotto.json.
import { createReadStream, realpathSync, statSync } from "node:fs";
import type { RequestListener } from "node:http";
import { extname, join, sep } from "node:path";
import { CONTENT_POLICY } from "@sotto/web/content-policy";
import { sendJson } from "./http.ts";

const HEADERS = {
  "content-security-policy": CONTENT_POLICY,
  // Otherwise a page that opened the wallet could change its route just before the user clicks.
  "cross-origin-opener-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  // A change takes effect after the next reload.
  "cache-control": "no-cache",
};

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".wasm": "application/wasm",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
  ".map": "application/json; charset=utf-8",
};

/**
 * @param folder the built app
 * @param configuration returns the body of /sotto.json
 */
export function createWebHost(folder: string, configuration: () => object): RequestListener {
  return (request, response) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("allow", "GET, HEAD");
      return sendJson(response, 405, { code: "METHOD_NOT_ALLOWED", message: "send a GET request" });
    }
    const [path = "/"] = (request.url ?? "/").split("?");
    if (path === "/sotto.json") return sendJson(response, 200, configuration());
    const file = findFile(folder, path === "/" ? "/index.html" : path);
    if (file === undefined) {
      const message = path === "/" ? "the web app is not built: npm run build" : "there is no such file";
      return sendJson(response, 404, { code: "NOT_FOUND", message });
    }
    const type = TYPES[extname(file)] ?? "application/octet-stream";
    response.writeHead(200, { "content-type": type, "content-length": statSync(file).size });
    if (request.method === "HEAD") return void response.end();
    createReadStream(file)
      .on("error", () => response.destroy())
      .pipe(response);
  };
}

/** @returns the file's path; undefined if it does not exist or is outside the folder */
function findFile(folder: string, path: string): string | undefined {
  try {
    const root = realpathSync(folder);
    const file = realpathSync(join(root, decodeURIComponent(path)));
    return file.startsWith(root + sep) && statSync(file).isFile() ? file : undefined;
  } catch {
    return undefined;
  }
}
