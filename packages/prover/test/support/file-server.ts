import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Handles a request in place of the usual response; returns false to respond as usual. */
type Hook = (request: IncomingMessage, response: ServerResponse, bytes: Buffer) => boolean;

/** Serves files by their hash with ranges, as a service does (docs/api.md). */
export class FileServer {
  /** The requested ranges, in order; "" for a whole file. */
  readonly ranges: string[] = [];
  /** The hash of each requested file, in order. */
  readonly asked: string[] = [];
  hook: Hook = () => false;
  /** Names of files in the list of the service, by hash. Default: the hash. */
  kinds: Readonly<Record<string, string>> = {};
  readonly #files: ReadonlyMap<string, Buffer>;
  readonly #server: Server;

  /** @param files by SHA-256 */
  constructor(files: ReadonlyMap<string, Buffer>) {
    this.#files = files;
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/zk`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { url = "", headers } = request;
    if (url === "/zk/circuits") return void response.end(JSON.stringify(this.#circuits()));
    const hash = url.replace("/zk/artifacts/", "");
    this.asked.push(hash);
    const bytes = this.#files.get(hash);
    if (bytes === undefined) return void response.writeHead(404).end();
    this.ranges.push(headers.range ?? "");
    if (this.hook(request, response, bytes)) return;
    const start = Number(/^bytes=(\d+)-$/.exec(headers.range ?? "")?.[1] ?? 0);
    if (start >= bytes.length) return void response.writeHead(416).end();
    const range = `bytes ${start}-${bytes.length - 1}/${bytes.length}`;
    if (headers.range === undefined) response.writeHead(200, { "content-length": bytes.length });
    else response.writeHead(206, { "content-length": bytes.length - start, "content-range": range });
    response.end(bytes.subarray(start));
  }

  #circuits() {
    const files = Object.fromEntries(
      [...this.#files].map(([sha256, { length: size }]) => [this.kinds[sha256] ?? sha256, { sha256, size }]),
    );
    return { artifactSet: { name: "development", id: "" }, circuits: { toy: { files } } };
  }
}

/** Sends the first bytes of a file with the content-length of the whole file, and closes the connection. */
export function cut(response: ServerResponse, bytes: Buffer, from: number, to: number): true {
  const range = `bytes ${from}-${bytes.length - 1}/${bytes.length}`;
  const length = bytes.length - from;
  if (from === 0) response.writeHead(200, { "content-length": length });
  else response.writeHead(206, { "content-length": length, "content-range": range });
  response.write(bytes.subarray(from, to), () => response.destroy());
  return true;
}
