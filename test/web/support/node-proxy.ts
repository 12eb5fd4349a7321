// A proxy between the page and its node that can stop answering or forward to another chain.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export class NodeProxy {
  readonly url: string;
  /** URL of the node. */
  target: string;
  /** Drops every connection. */
  down = false;
  /** Requests for block 0 so far. Each time a page reads the chain, it first requests block 0. */
  looks = 0;
  readonly #server: Server;

  static async open(target: string): Promise<NodeProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new NodeProxy(server, target);
  }

  private constructor(server: Server, target: string) {
    this.#server = server;
    this.target = target;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("request", async (request, response) => {
      const headers = { "access-control-allow-origin": "*", "access-control-allow-headers": "content-type" };
      if (this.down) return void response.socket?.destroy();
      if (request.method === "OPTIONS") return void response.writeHead(204, headers).end();
      try {
        let body = "";
        for await (const chunk of request) body += chunk;
        if (body.includes('"0x0",false')) this.looks += 1;
        const json = { "content-type": "application/json" };
        const answer = await fetch(this.target, { method: "POST", headers: json, body });
        response.writeHead(answer.status, { ...headers, ...json }).end(await answer.text());
      } catch {
        response.socket?.destroy();
      }
    });
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}
