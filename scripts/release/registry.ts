// A registry for packed packages that serves the two kinds of requests with which npm, pnpm and yarn install. It
// accepts no uploads and asks no other registry, so nobody else can supply these packages. docs/release.md explains why
// it does not run permanently.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { HOST } from "@sotto/command/ports";
import type { PackedPackage } from "./pack.ts";

export interface Registry {
  /** For example `http://127.0.0.1:4873`. */
  readonly url: string;
  close(): Promise<void>;
}

interface RegistryOptions {
  readonly packages: readonly PackedPackage[];
  /** 0 for any free port. */
  readonly port: number;
}

/** Serves packages on this machine only. @throws the system's error if the port cannot be opened */
export async function startRegistry({ packages, port }: RegistryOptions): Promise<Registry> {
  // Read now, because a later run may write other tarballs under the same names.
  const tarballs = new Map(packages.map((one) => [tarballPath(one), readFileSync(one.tarball)]));
  const server = createServer((request, response) => {
    const path = decode(request.url ?? "/");
    const one = packages.find(({ name }) => path === `/${name}`);
    const tarball = path === undefined ? undefined : tarballs.get(path);
    if (request.method !== "GET" && request.method !== "HEAD")
      sendError(response, 405, "this registry is read-only: npm run release packs and serves the packages");
    else if (one !== undefined) send(request, response, "application/json", Buffer.from(describe(one, url)));
    else if (tarball !== undefined) send(request, response, "application/octet-stream", tarball);
    else sendError(response, 404, `this registry has only ${packages.map(({ name }) => name).join(", ")}`);
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, HOST, resolve));
  const url = `http://${HOST}:${(server.address() as AddressInfo).port}`;
  return {
    url,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** @returns the path without percent-encoding: npm asks for `/@sotto%2fclient`; undefined if it is malformed */
function decode(target: string): string | undefined {
  try {
    return decodeURIComponent(target.split("?")[0] ?? "");
  } catch {
    return undefined;
  }
}

/**
 * The time of every file in the tarballs, which makes them reproducible. yarn and pnpm do not install a version that was
 * published within the last day, as a protection against malicious releases; these packages come from this checkout.
 */
const PACKED_AT = "1985-10-26T08:15:00.000Z";

const tarballPath = ({ name, version }: PackedPackage): string => `/${name}/-/${name.split("/").at(-1)}-${version}.tgz`;

/** The document of a package, from which package managers read its versions and tarballs. */
function describe(one: PackedPackage, url: string): string {
  const { name, version, manifest, integrity } = one;
  const dist = { tarball: `${url}${tarballPath(one)}`, integrity };
  return JSON.stringify({
    name,
    "dist-tags": { latest: version },
    time: { [version]: PACKED_AT },
    versions: { [version]: { ...manifest, _id: `${name}@${version}`, dist } },
  });
}

/**
 * Package managers cache responses: with an entity tag, they check whether the packages were packed again in the
 * meantime.
 */
function send(request: IncomingMessage, response: ServerResponse, type: string, body: Buffer): void {
  const etag = `"${createHash("sha256").update(body).digest("base64url")}"`;
  const headers = { etag, "cache-control": "no-cache", "content-type": type };
  if (request.headers["if-none-match"] === etag) return void response.writeHead(304, headers).end();
  response.writeHead(200, { ...headers, "content-length": body.length });
  response.end(request.method === "HEAD" ? undefined : body);
}

function sendError(response: ServerResponse, status: number, error: string): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error }));
}
