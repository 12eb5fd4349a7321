// A proxy in front of the real service. A test can replace its responses or drop its connections.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Forwarded {
  readonly path: string;
  readonly body: string;
  /** Forwards the request to the real service. */
  forward(): Promise<{ status: number; body: Record<string, unknown> }>;
}

/**
 * Returns the response to send instead of the service's; undefined: sends the service's response; "hang up": sends
 * none.
 */
type Lie = (request: Forwarded) => Promise<{ status: number; body: unknown } | "hang up" | undefined>;

export class ServiceProxy {
  url = "";
  lie: Lie = async () => undefined;
  /** Paths of all requests, without the base path. */
  readonly asked: string[] = [];
  readonly #target: string;
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  private constructor(target: string) {
    this.#target = target;
  }

  static async open(target: string): Promise<ServiceProxy> {
    const proxy = new ServiceProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    proxy.url = `http://127.0.0.1:${(proxy.#server.address() as AddressInfo).port}/zk`;
    return proxy;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const path = (request.url ?? "").replace("/zk/", "");
    this.asked.push(path);
    const { method = "GET" } = request;
    const forward = async () => {
      const init = method === "GET" ? {} : { method, body, headers: { "content-type": "application/json" } };
      const answer = await fetch(`${this.#target}/${path}`, init);
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    };
    const answer = (await this.lie({ path, body, forward })) ?? (await forward());
    if (answer === "hang up") return void request.socket.destroy();
    response.writeHead(answer.status, { "content-type": "application/json" }).end(JSON.stringify(answer.body));
  }
}
