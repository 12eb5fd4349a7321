// Helpers shared by the two servers within the process of `npm run dev`.
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { refusalOf } from "@sotto/command/own-machine";
import { HOST } from "@sotto/command/ports";

/**
 * Listens on this machine only, and refuses requests of web pages of other hosts.
 * @returns a function that closes the server and its connections
 */
export async function listen(handler: RequestListener, port: number): Promise<() => Promise<void>> {
  const server: Server = createServer((request, response) => {
    const message = refusalOf(request.headers);
    if (message !== undefined) return sendJson(response, 403, { code: "NOT_FROM_HERE", message });
    return handler(request, response);
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, HOST, resolve));
  return async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
}

/** @param body becomes JSON */
export function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8" });
  response.end(JSON.stringify(body));
}

/** @returns the body's text, or undefined if it is larger than `maxBytes` */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
